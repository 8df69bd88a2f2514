// Reports a unit's alarm to the doorway: the edge with index `alarm.cycle` will occur although the clock may sleep. An
// alarm that is not in the future requests the next edge by itself (the unit is busy), so only later ones are passed
// on.
`include "doorway.svh"
module sim_alarm
  import myri_sleep_pkg::*;
#(
    parameter int CLOCK = 0  // index of the clock in the cluster
) (
    input logic clk,
    input alarm_t alarm,
    input logic [47:0] cycle,
    output logic busy  // 1 = one more edge is needed, so that a changed alarm is reported
);
  logic seen_valid_q;
  logic [47:0] seen_q;
  longint edge_index;
  initial {seen_valid_q, seen_q} = '0;
  // Registered at each edge; a change of the alarm keeps the clock awake until it has been registered.
  always_ff @(posedge clk) begin
    seen_valid_q <= alarm.valid;
    if (alarm.valid) begin
      edge_index = {16'd0, alarm.cycle};
      seen_q <= alarm.cycle;
      if ((!seen_valid_q || alarm.cycle != seen_q) && alarm.cycle > cycle)
        `SAN(san_alarm) (CLOCK, edge_index);
    end
  end
  always_comb begin
    if (!alarm.valid) busy = 1'b0;
    else if (!seen_valid_q) busy = 1'b1;
    else busy = alarm.cycle != seen_q || alarm.cycle <= cycle;
  end
endmodule
