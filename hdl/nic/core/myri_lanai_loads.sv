// Load scoreboard of a LANai's processor: registers with a pending load, and whether an instruction must wait for one.
//
// Timing: a register may be used `cfg_load_delay` clocks after the clock that follows its load.
module myri_lanai_loads #(
    parameter int DEPTH = 7  // the longest delay
) (
    input logic clk,  // NIC clock
    input logic rst,  // synchronous reset: no load is pending
    input logic [2:0] cfg_load_delay,  // longest wait of a user of a loaded register, clocks, 1..DEPTH; 0 counts as 1
    input logic loads,  // a load is executed in this clock
    input logic [4:0] load_rd,  // destination register of the load
    input logic [31:0] uses,  // registers used by the current instruction, one bit each
    output logic waits  // one of them has a pending load
);
  logic [  DEPTH-1:0] loaded_q;  // 1 + k clocks ago
  logic [5*DEPTH-1:0] rd_q;
  logic [  DEPTH-1:0] hits;
  for (genvar k = 0; k < DEPTH; k++) begin : gen_age
    assign hits[k] = loaded_q[k] && (k == 0 || 3'(k) < cfg_load_delay) && uses[rd_q[5*k+:5]];
  end
  assign waits = hits != '0;
  always_ff @(posedge clk) begin
    if (rst) loaded_q <= '0;
    else loaded_q <= {loaded_q[DEPTH-2:0], loads};
    rd_q <= {rd_q[5*DEPTH-6:0], load_rd};
  end
endmodule
