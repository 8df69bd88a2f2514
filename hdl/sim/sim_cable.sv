// One direction of a cable as it arrives: the delay line, then one register at which faults act. Clocked by the
// receiving side, which it keeps awake while anything moves in it. A cable is thus at least one character long. BEATs that a
// sender asleep does not send are put in before faults act (sim_beats).
`include "doorway.svh"
module sim_cable
  import sim_settings_pkg::*;
#(
    parameter int CABLE = 0,  // number of the cable direction, for faults
    parameter int CLOCK = 0,  // index of the receiving side's clock
    parameter int UNIT  = 0,  // settings unit, and the key of the delay: characters before the register
    parameter int KEY = 0
) (
    input  logic        clk,
    input  logic        rst,
    input  logic [47:0] cycle,
    input  logic        faults,   // some cable of the cluster has a fault in force or to come
    input  logic        present,  // somebody is at the far end
    input  logic [ 8:0] in,
    input  logic        in_hold,
    output logic [ 8:0] rx,
    output logic        rx_hold,
    output logic        needed,   // the coming edge is: any other may be left out
    output logic        busy      // another edge is needed
);
  logic [7:0] cfg_delay;
  sim_setting #(
      .UNIT (UNIT),
      .KEY  (KEY),
      .WIDTH(8)
  ) delay (
      .clk,
      .rst,
      .value(cfg_delay)
  );
  logic [31:0] cfg_beat_period;
  sim_setting #(
      .UNIT(UNIT),
      .KEY (SET_BEAT_PERIOD)
  ) beat_period (
      .clk,
      .rst,
      .value(cfg_beat_period)
  );
  logic [8:0] arrived, shown;
  logic arrived_hold, cable_busy, holds_differ, struck, beats_busy, alarm_busy, alarm_valid;
  logic [47:0] alarm_cycle;
  int character;
  longint slot;
  myri_cable cable (
      .clk,
      .rst,
      .in,
      .in_hold,
      .cfg_delay,
      .out(arrived),
      .out_hold(arrived_hold),
      .busy(cable_busy)
  );
  sim_beats beats (
      .clk,
      .rst,
      .cycle,
      .cfg_beat_period(present ? cfg_beat_period : 32'd0),
      .cfg_delay,
      .in(arrived),
      .struck,
      .out(shown),
      .busy(beats_busy),
      .alarm_valid,
      .alarm_cycle
  );
  sim_alarm #(
      .CLOCK(CLOCK)
  ) alarm (
      .clk,
      .alarm_valid,
      .alarm_cycle,
      .cycle,
      .busy(alarm_busy)
  );
  always_ff @(posedge clk) begin
    if (rst) begin
      rx <= 9'h000;
      rx_hold <= 1'b0;
      struck <= 1'b0;
    end else begin
      rx <= shown;
      rx_hold <= arrived_hold;
      if (faults) begin
        slot = {16'd0, cycle};
        character = `SAN(san_fault) (CABLE, slot, {23'd0, shown});
        rx <= character[8:0];
        struck <= character[9] || (character[8:0] != shown && !character[10]);
        if (character[9] || (character[8:0] != shown && !character[10])) rx_hold <= 1'b0;
      end
    end
  end
  sim_tap #(
      .CABLE(CABLE)
  ) tap (
      .clk,
      .rst,
      .rx
  );
  assign busy = cable_busy | beats_busy | alarm_busy | (rx != 9'h000) | (arrived != rx) | (in != 9'h000) | holds_differ;
  assign needed = busy | (shown != 9'h000) | faults;
  assign holds_differ = (in_hold != arrived_hold) | (arrived_hold != rx_hold);
endmodule
