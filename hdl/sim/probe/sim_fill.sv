// Fill of a buffer as a trace point: a record {UNIT, EVENT, argument: bytes} at each rise to a further multiple of 16
// entries, and, when falling, 8 below. A buffer through which packets only pass leaves no record. With PEAKS each new
// maximum of the run is recorded, too.
`include "doorway.svh"
module sim_fill
  import sim_trace_pkg::*;
#(
    parameter int          UNIT  = 0,              // unit number of the record
    parameter logic [15:0] EVENT = EV_SLACK_FILL,  // event code of pymodels/trace.py
    parameter int          WIDTH = 8,              // bits of the count
    parameter int          BYTES = 1,              // bytes of an entry
    parameter int          PEAKS = 0               // 1 = report each new maximum
) (
    input  logic             clk,
    input  logic             rst,
    input  logic [WIDTH-1:0] held,  // entries held
    output logic             busy   // a trace record is due at the coming edge
);
  logic [WIDTH-5:0] told_q;  // in steps of 16 entries
  logic [WIDTH-1:0] raised, most_q;
  logic up, down, peak;
  longint now;
  assign raised = held + WIDTH'(8);
  assign up = held[WIDTH-1:4] > told_q;
  assign down = raised[WIDTH-1:4] < told_q;
  assign peak = PEAKS != 0 && held > most_q;
  assign busy = up | down | peak;
  always_ff @(posedge clk) begin
    if (rst) begin
      told_q <= '0;
      most_q <= '0;
    end else if (busy) begin
      now = $time;
      if (up || down) told_q <= up ? held[WIDTH-1:4] : raised[WIDTH-1:4];
      if (peak) most_q <= held;
      `SAN(san_trace) (now, UNIT, {16'd0, EVENT}, 0, 32'(held) * BYTES, 64'd0);
    end
  end
endmodule
