// When a clock of a cluster is needed: its unit is busy, an alarm or a change of what is in flight must still be told to
// the doorway. An alarm in the future needs no edges: the doorway wakes the clock for it.
module sim_awake
  import myri_sleep_pkg::*;
#(
    parameter int CLOCK = 0  // index of the clock in the cluster
) (
    input  logic          clk,
    input  logic          rst,
    input  logic   [47:0] cycle,
    input  logic          busy,       // the unit needs edges
    input  logic          in_flight,  // something of the unit is in flight
    input  alarm_t        alarm,
    output logic          awake
);
  logic alarm_busy, flight_busy;
  sim_alarm #(
      .CLOCK(CLOCK)
  ) wake_up (
      .clk,
      .alarm,
      .cycle,
      .busy(alarm_busy)
  );
  sim_flight #(
      .CLOCK(CLOCK)
  ) flight (
      .clk,
      .rst,
      .level(in_flight),
      .busy (flight_busy)
  );
  assign awake = busy | alarm_busy | flight_busy;
endmodule
