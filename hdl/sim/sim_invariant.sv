// An invariant: a strobe here is an event of the invariant unit with this code (tb/invariants.py names the codes).
`include "doorway.svh"
module sim_invariant #(
    parameter int UNIT = 0,  // who broke it
    parameter int CODE = 0   // which
) (
    input logic        clk,
    input logic        rst,
    input logic        strobe,
    input logic [31:0] packet   // packet key, where known
);
  localparam int INVARIANT_UNIT = 4000;
  longint now;
  always_ff @(posedge clk) begin
    now = $time;
    if (!rst && strobe) `SAN(san_event) (now, INVARIANT_UNIT, CODE, {32'd0, UNIT}, {32'd0, packet});
  end
endmodule
