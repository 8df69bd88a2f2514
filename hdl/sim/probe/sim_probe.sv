// Trace point: while `strobe` is high at an edge, one record {time, UNIT, EVENT, packet, argument, argument2} is added
// to the trace.
`include "doorway.svh"
module sim_probe #(
    parameter int          UNIT  = 0,      // unit number of the record
    parameter logic [15:0] EVENT = 16'd0,  // event code of pymodels/trace.py
    parameter int          CLOCK = 0       // index of this clock, for `ago`
) (
    input logic        clk,
    input logic        rst,
    input logic        strobe,
    input logic [31:0] packet,     // packet key
    input logic [31:0] argument,
    input logic [63:0] argument2,
    input logic [31:0] ago         // edges between the event and this edge
);
  longint when_it_was;
  always_ff @(posedge clk) begin
    if (!rst && strobe) begin
      when_it_was = $time;
      if (ago != 32'd0) when_it_was = when_it_was - {32'd0, ago} * `SAN(san_period) (CLOCK);
      `SAN(san_trace) (when_it_was, UNIT, {16'd0, EVENT}, packet, argument, argument2);
    end
  end
endmodule
