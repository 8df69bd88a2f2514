// Register chain that carries a Gray-coded pointer into another clock (part of myri_cdc_fifo).
// Timing: a new `source` reaches `seen` cfg_latency edges after the first edge of clk that samples it. Clock gating:
// while `moving` = 0 the chain is settled and edges may be skipped.
module myri_cdc_pointer #(
    parameter int WIDTH = 5  // bits of the pointer
) (
    input  logic             clk,          // clock of the destination side
    input  logic             rst,          // synchronous reset of the destination side
    input  logic [      3:0] cfg_latency,  // further edges after the first; static
    input  logic [WIDTH-1:0] source,       // pointer in the other clock, one bit changes a step
    output logic [WIDTH-1:0] seen,         // pointer as known here
    output logic             moving        // the chain is not settled
);
  logic [15*WIDTH-1:0] chain_q;
  logic [         3:0] settle_q;  // edges until the stages in use are equal again
  logic                fresh;

  assign fresh  = source != chain_q[WIDTH-1:0];
  assign moving = fresh || settle_q != 4'd0;

  always_ff @(posedge clk) begin
    if (rst) begin
      chain_q  <= '0;
      seen     <= '0;
      settle_q <= 4'd0;
    end else if (moving) begin
      chain_q  <= {chain_q[14*WIDTH-1:0], source};
      // Next value of the stage after the last one in use.
      seen     <= cfg_latency == 4'd0 ? source : chain_q[32'(cfg_latency-4'd1)*WIDTH+:WIDTH];
      settle_q <= fresh ? cfg_latency : settle_q - 4'd1;
    end
  end
endmodule
