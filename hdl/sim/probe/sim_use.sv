// How much a resource is used: for each window of 2**WINDOW_LOG2 edges with any use, one record {UNIT, EVENT, argument:
// sum of `used`, argument2: sum of `also`} at the first edge after it. Windows stand on the clock's absolute grid; the
// edge that ends one is asked for, so that the record is the same whether the clock sleeps or not. Of the clock it needs the
// edges before which something is used or `due` is 1.
`include "doorway.svh"
module sim_use #(
    parameter int          UNIT        = 0,      // unit number of the record
    parameter logic [15:0] EVENT       = 16'd0,  // event code of pymodels/trace.py
    parameter int          CLOCK       = 0,      // index of this clock, for the alarm
    parameter int          WINDOW_LOG2 = 10      // edges of a window = 2**WINDOW_LOG2
) (
    input  logic        clk,
    input  logic        rst,
    input  logic [47:0] cycle,  // index of the edge
    input  logic [ 1:0] used,   // uses in the clock that ends at this edge
    input  logic [ 1:0] also,   // likewise, told beside
    output logic        due     // a window ends at the coming edge
);
  logic open_q, first;
  logic [31:0] sum_q, sum_also_q;
  longint now, last;
  assign due   = first && open_q;
  assign first = cycle[WINDOW_LOG2-1:0] == '0;
  always_ff @(posedge clk) begin
    if (rst) begin
      open_q <= 1'b0;
      sum_q <= 32'd0;
      sum_also_q <= 32'd0;
    end else if (first || used != 2'd0 || also != 2'd0) begin
      if (first && open_q) begin
        now = $time;
        `SAN(san_trace) (now, UNIT, {16'd0, EVENT}, 0, sum_q, {32'd0, sum_also_q});
      end
      sum_q <= (first ? 32'd0 : sum_q) + {30'd0, used};
      sum_also_q <= (first ? 32'd0 : sum_also_q) + {30'd0, also};
      open_q <= used != 2'd0 || also != 2'd0 || (open_q && !first);
      if ((first || !open_q) && (used != 2'd0 || also != 2'd0)) begin
        last = {16'd0, {cycle[47:WINDOW_LOG2] + 1'b1, {WINDOW_LOG2{1'b0}}}};
        `SAN(san_alarm) (CLOCK, last);
      end
    end
  end
endmodule
