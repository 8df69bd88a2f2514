// First register behind a change of clocks: the only one that may sample a signal of another clock.
//
// Timing: q is d as sampled at the last edge of clk. The attributes keep synthesis tools from merging, retiming or
// duplicating the register, and let placement tools put the next register of the chain beside it.
module myri_sync #(
    parameter int WIDTH = 1  // bits; of several bits at most one changes at a time
) (
    input logic clk,  // clock of the receiving side
    input logic rst,  // synchronous reset of that side
    input logic [WIDTH-1:0] d,  // signal of another clock, straight from a register
    output logic [WIDTH-1:0] q     // first sample; metastable for up to a clock where the clocks are unrelated
);
  (* keep, dont_touch = "true", async_reg = "true", syn_preserve = 1 *) logic [WIDTH-1:0] sync_q;

  assign q = sync_q;

  always_ff @(posedge clk) begin
    if (rst) sync_q <= '0;
    else sync_q <= d;
  end
endmodule
