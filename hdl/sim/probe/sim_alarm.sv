// Hands a unit's wake-up time to the doorway: the edge with index `alarm_cycle` will happen although the clock may
// sleep. An alarm that is not in the future asks for the next edge by itself (the unit is busy), so only later ones are
// passed on.
`include "doorway.svh"
module sim_alarm #(
    parameter int CLOCK = 0  // index of the clock in the cluster
) (
    input logic clk,
    input logic alarm_valid,
    input logic [47:0] alarm_cycle,
    input logic [47:0] cycle,
    output logic busy  // one more edge, so that the alarm as it stands after this edge is seen
);
  logic seen_valid;
  logic [47:0] seen;
  longint edge_index;
  initial {seen_valid, seen} = '0;
  // Registered at each edge; a change of the alarm keeps the clock awake until it has been registered.
  always_ff @(posedge clk) begin
    seen_valid <= alarm_valid;
    if (alarm_valid) begin
      edge_index = {16'd0, alarm_cycle};
      seen <= alarm_cycle;
      if ((!seen_valid || alarm_cycle != seen) && alarm_cycle > cycle)
        `SAN(san_alarm) (CLOCK, edge_index);
    end
  end
  assign busy = alarm_valid && (!seen_valid || alarm_cycle != seen || alarm_cycle <= cycle);
endmodule
