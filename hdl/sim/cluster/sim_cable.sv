// One direction of a cable as it arrives: the delay line, then one register at which faults act. Clocked by the
// receiving side, which it keeps awake while anything moves in it. A cable is thus at least one character long. BEATs that a
// sender asleep does not send are put in before faults act (sim_beats).
`include "doorway.svh"
module sim_cable
  import myri_sleep_pkg::*;
  import sim_settings_pkg::*;
#(
    parameter int CABLE = 0,  // number of the cable direction, for faults
    parameter int CLOCK = 0,  // index of the receiving side's clock
    parameter int UNIT  = 0,  // settings unit, and the key of the delay: characters before the register
    parameter int KEY = 0,
    parameter int CARRIED = 0  // 1 = the edge after a change of `in`, `in_hold` is given, and every one while `faults`
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
  logic due;  // a BEAT
  logic arrived_hold, cable_busy, cable_flying, struck_q, beats_busy, alarm_busy;
  alarm_t alarm;
  logic under_fault_q;  // a fault may hide what stands at the input
  logic [9:0] delayed;
  int character;
  longint slot;
  myri_cable cable (
      .*,
      .out(arrived),
      .out_hold(arrived_hold),
      .busy(cable_busy),
      .flying(cable_flying)
  );
  sim_beats beats (
      .*,
      .struck(struck_q),
      .cfg_beat_period(present ? cfg_beat_period : 32'd0),
      .in(arrived),
      .out(shown),
      .busy(beats_busy)
  );
  sim_alarm #(
      .CLOCK(CLOCK)
  ) wake_up (
      .*,
      .busy(alarm_busy)
  );
  always_ff @(posedge clk) begin
    if (rst) begin
      rx <= 9'h000;
      rx_hold <= 1'b0;
      struck_q <= 1'b0;
      under_fault_q <= 1'b0;
    end else begin
      rx <= shown;
      rx_hold <= arrived_hold;
      under_fault_q <= faults && (in != 9'h000 || in_hold || arrived != 9'h000 || arrived_hold);
      if (faults) begin
        slot = {16'd0, cycle};
        character = `SAN(san_fault) (CABLE, slot, {23'd0, shown});
        rx <= character[8:0];
        struck_q <= character[9] || (character[8:0] != shown && !character[10]);
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
  logic moving;  // something is on its way to `rx`, or stands there
  if (CARRIED != 0) begin : gen_carried
    assign moving = cable_flying | (rx != 9'h000) | (cfg_delay != 8'd0 && delayed != {rx_hold, rx}) | under_fault_q;
    assign needed = busy | due;
  end else begin : gen_watched
    assign needed = busy | due | faults;
    assign moving = cable_busy | (rx != 9'h000) | (arrived != rx) | (in != 9'h000) | (in_hold != arrived_hold)
        | (arrived_hold != rx_hold) | under_fault_q;
    logic unused;
    assign unused = &{1'b0, cable_flying, delayed};
  end
  assign busy = moving | beats_busy | alarm_busy;
endmodule
