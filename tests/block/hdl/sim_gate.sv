// Clock gate and edge counter of a block bench: the block's clock runs when the block needs it.
//
// `cycle` changes at the falling edge, so it is stable around the rising one. The clock enable is sampled just before
// the rising edge. With sleep = 0 the clock always runs; results must not depend on it.
module sim_gate
  import myri_sleep_pkg::*;
(
    input  logic          clk,    // free-running clock
    input  logic          rst,    // the clock runs in reset
    input  logic          sleep,  // 1 = skip clock edges that no module needs
    input  logic          busy,   // the block needs the coming edge
    input  alarm_t        alarm,  // the block wants to be awake
    output logic          gated,  // clock of the block
    output logic   [47:0] cycle,  // index of the coming rising edge
    output logic   [31:0] edges   // edges the block has had since reset
);
  logic on;

  assign gated = clk & on;
  initial begin
    cycle = 48'd0;
    edges = 32'd0;
  end
  always_latch if (!clk) on = rst | !sleep | busy | (alarm.valid && alarm.cycle <= cycle);
  always @(negedge clk) cycle <= rst ? 48'd0 : cycle + 48'd1;
  always @(posedge clk) edges <= rst ? 32'd0 : edges + {31'd0, on};
endmodule
