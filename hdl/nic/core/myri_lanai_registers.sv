// Register file of a LANai's processor: three reads, one loaded value and one result per clock.
//
// Two banks of LUT RAM, each with one write port: one holds the loaded values, the other all other results. A flag per
// register names the bank that was written last. Registers read as 0 from reset until they are written.
// Timing: read in the same clock, written from the next. The two writes of one clock are of different registers.
module myri_lanai_registers #(
    parameter int WIDTH  = 32,  // bits of a register
    parameter int NUMBER = 5    // bits of its number
) (
    input logic clk,  // NIC clock
    input logic rst,  // synchronous reset: every register is 0
    input logic [NUMBER-1:0] rs1,  // register read
    output logic [WIDTH-1:0] rs1_value,  // its value
    input logic [NUMBER-1:0] rs2,  // likewise
    output logic [WIDTH-1:0] rs2_value,  // likewise
    input logic [NUMBER-1:0] rd,  // likewise
    output logic [WIDTH-1:0] rd_value,  // likewise
    input logic loads,  // strobe: a loaded value is written
    input logic [NUMBER-1:0] load_rd,  // its register
    input logic [WIDTH-1:0] load_value,  // the value
    input logic computes,  // strobe: another result is written
    input logic [NUMBER-1:0] result_rd,  // likewise
    input logic [WIDTH-1:0] result_value  // likewise
);
  logic [WIDTH-1:0] loaded[1<<NUMBER];
  logic [WIDTH-1:0] computed[1<<NUMBER];
  logic [(1<<NUMBER)-1:0] known_q;  // written since reset
  logic [(1<<NUMBER)-1:0] by_load_q;  // the bank of loaded values was written last

  assign rs1_value = !known_q[rs1] ? WIDTH'(0) : by_load_q[rs1] ? loaded[rs1] : computed[rs1];
  assign rs2_value = !known_q[rs2] ? WIDTH'(0) : by_load_q[rs2] ? loaded[rs2] : computed[rs2];
  assign rd_value  = !known_q[rd] ? WIDTH'(0) : by_load_q[rd] ? loaded[rd] : computed[rd];

  always_ff @(posedge clk) begin
    if (rst) known_q <= '0;
    else begin
      if (loads) known_q[load_rd] <= 1'b1;
      if (computes) known_q[result_rd] <= 1'b1;
    end
  end
  always_ff @(posedge clk) begin
    if (loads) by_load_q[load_rd] <= 1'b1;
    if (computes) by_load_q[result_rd] <= 1'b0;
  end
  always_ff @(posedge clk) if (loads) loaded[load_rd] <= load_value;
  always_ff @(posedge clk) if (computes) computed[result_rd] <= result_value;
endmodule
