// Tells the doorway whether something of this unit is in flight, so that a run can end only when nothing is.
`include "doorway.svh"
module sim_flight #(
    parameter int CLOCK = 0  // index of the unit's clock, by which the doorway keeps the level
) (
    input  logic clk,
    input  logic rst,
    input  logic level,  // something is in flight
    output logic busy    // one more edge, so that the level as it stands is told
);
  logic told_q;
  always_ff @(posedge clk) begin
    if (rst) told_q <= 1'b0;
    else if (level != told_q) begin
      told_q <= level;
      `SAN(san_flight) (CLOCK, {31'd0, level});
    end
  end
  assign busy = level != told_q;
endmodule
