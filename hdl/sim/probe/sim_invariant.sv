// Invariant: a strobe is an event of the invariant unit with this code (tb/lab/invariants.py names the codes).
`include "doorway.svh"
module sim_invariant #(
    parameter int UNIT = 0,  // unit that violates the invariant
    parameter int CODE = 0   // which
) (
    input logic        clk,
    input logic        rst,
    input logic        strobe,
    input logic [31:0] packet   // packet key, if known
);
  longint now;
  always_ff @(posedge clk) begin
    if (!rst && strobe) begin
      now = $time;
      `SAN(san_invariant) (now, UNIT, CODE, packet);
    end
  end
endmodule
