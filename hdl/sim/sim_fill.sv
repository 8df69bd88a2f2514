// The fill of a buffer as a trace point: a record {UNIT, EV_SLACK_FILL, argument: characters} whenever it has come to
// another 16 characters, and, on its way down, 8 below. A buffer through which packets only pass leaves no record.
`include "doorway.svh"
module sim_fill
  import sim_trace_pkg::*;
#(
    parameter int UNIT = 0  // unit number of the record
) (
    input  logic       clk,
    input  logic       rst,
    input  logic [7:0] held,  // characters held
    output logic       busy   // a record is due at the coming edge
);
  logic [3:0] told;  // in steps of 16 characters
  logic [7:0] raised;
  logic up, down;
  longint now;
  assign raised = held + 8'd8;
  assign up = held[7:4] > told;
  assign down = raised[7:4] < told;
  assign busy = up | down;
  always_ff @(posedge clk) begin
    if (rst) told <= 4'd0;
    else if (busy) begin
      now = $time;
      told <= up ? held[7:4] : raised[7:4];
      `SAN(san_trace) (now, UNIT, {16'd0, EV_SLACK_FILL}, 0, {24'd0, held}, 64'd0);
    end
  end
endmodule
