// INTA# as the host CPU sees it, by level: an event with the new level and a trace record at each change.
`include "doorway.svh"
module sim_interrupt
  import sim_trace_pkg::*;
#(
    parameter int UNIT = 0  // the host CPU's unit number
) (
    input  logic clk,
    input  logic rst,
    input  logic intr,  // a card asserts INTA#
    output logic busy   // 1 = a change is still to be reported
);
  localparam int EVENT_INTERRUPT = 34;
  logic   last_q;
  longint now;
  always_ff @(posedge clk) begin
    if (rst) last_q <= 1'b0;
    else if (intr != last_q) begin
      now = $time;
      last_q <= intr;
      `SAN(san_trace) (now, UNIT, {16'd0, EV_INTERRUPT}, 32'd0, {31'd0, intr}, 64'd0);
      `SAN(san_event) (now, UNIT, EVENT_INTERRUPT, {63'd0, intr}, 64'd0);
    end
  end
  assign busy = intr != last_q;
endmodule
