// Utilisation of a resource: for each window of 2**WINDOW_LOG2 edges with any use, one record {UNIT, EVENT, argument:
// sum of `used`, argument2: sum of `also`} at the first edge after it. C keeps the sums (use.c). Windows lie on the
// clock's absolute grid, so the record is the same whether the clock sleeps or not. The clock must have the edges
// before which the resource is used.
`include "doorway.svh"
module sim_use #(
    parameter int          UNIT        = 0,      // unit number of the record
    parameter logic [15:0] EVENT       = 16'd0,  // event code of pymodels/trace.py
    parameter int          CLOCK       = 0,      // index of this clock, which has the grid
    parameter int          WINDOW_LOG2 = 10      // edges of a window = 2**WINDOW_LOG2
) (
    input logic       clk,
    input logic       rst,
    input logic [1:0] used,  // uses in the clock that ends at this edge
    input logic [1:0] also   // further uses in the same clock, reported separately
);
  longint now;
  always_ff @(posedge clk) begin
    if (!rst && (used != 2'd0 || also != 2'd0)) begin
      now = $time;
      `SAN(san_use) (now, UNIT, {16'd0, EVENT}, CLOCK, WINDOW_LOG2, {30'd0, used}, {30'd0, also});
    end
  end
endmodule
