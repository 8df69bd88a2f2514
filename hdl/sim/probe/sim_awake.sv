// Need for a clock of a cluster: its unit is busy, or a change of an alarm or of the unfinished work is still to be
// reported to the doorway. An alarm in the future needs no edges: the doorway wakes the clock for it.
module sim_awake
  import myri_sleep_pkg::*;
#(
    parameter int CLOCK = 0  // index of the clock in the cluster
) (
    input  logic          clk,
    input  logic          rst,
    input  logic   [47:0] cycle,
    input  logic          busy,       // 1 = the unit needs clock edges
    input  logic          in_flight,  // 1 = the unit has unfinished work
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
