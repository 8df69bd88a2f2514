// Reports unfinished work of this unit to the doorway, so that a run ends only when there is none.
`include "doorway.svh"
module sim_flight #(
    parameter int CLOCK = 0  // index of the unit's clock, by which the doorway keeps the level
) (
    input  logic clk,
    input  logic rst,
    input  logic level,  // 1 = work is unfinished
    output logic busy    // 1 = one more edge is needed, so that the level is reported
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
