// A crossbar switch as it stands in a cluster: its run-time settings, the cables that arrive at it, its trace points, its sleep.
module sim_switch
  import sim_settings_pkg::*;
  import sim_trace_pkg::*;
#(
    parameter int SWITCH      = 0,  // number of the switch in the cluster
    parameter int PORTS       = 8,  // ports of the crossbar
    parameter int CLOCK       = 0,  // index of its clock
    parameter int FIRST_CABLE = 0   // number of the cable direction that arrives at port 0; the others follow
) (
    input  logic               clk,
    input  logic               rst,
    input  logic [       47:0] cycle,
    input  logic               faults,
    input  logic [9*PORTS-1:0] in,      // characters entering the cables at their far ends
    input  logic [  PORTS-1:0] in_hold,
    output logic [9*PORTS-1:0] tx,
    output logic [  PORTS-1:0] tx_hold,
    output logic               awake    // the switch needs edges
);
  localparam int UNIT = SWITCH_UNIT + SWITCH;
  logic [7:0] slack, stop_mark, go_mark, fall_through;
  logic [15:0] refresh, short_timeout;
  logic [31:0] long_timeout, beat_period;
  logic [PORTS-1:0] present;
  sim_setting #(.UNIT(UNIT), .KEY(SET_SLACK), .WIDTH(8)) set_slack (.clk, .rst, .value(slack));
  sim_setting #(.UNIT(UNIT), .KEY(SET_STOP_MARK), .WIDTH(8)) set_stop (.clk, .rst, .value(stop_mark));
  sim_setting #(.UNIT(UNIT), .KEY(SET_GO_MARK), .WIDTH(8)) set_go (.clk, .rst, .value(go_mark));
  sim_setting #(.UNIT(UNIT), .KEY(SET_FALL_THROUGH), .WIDTH(8)) set_fall (.clk, .rst, .value(fall_through));
  sim_setting #(.UNIT(UNIT), .KEY(SET_REFRESH), .WIDTH(16)) set_refresh (.clk, .rst, .value(refresh));
  sim_setting #(.UNIT(UNIT), .KEY(SET_SHORT_TIMEOUT), .WIDTH(16)) set_short (.clk, .rst, .value(short_timeout));
  sim_setting #(.UNIT(UNIT), .KEY(SET_LONG_TIMEOUT)) set_long (.clk, .rst, .value(long_timeout));
  sim_setting #(.UNIT(UNIT), .KEY(SET_BEAT_PERIOD)) set_beat (.clk, .rst, .value(beat_period));
  sim_setting #(.UNIT(UNIT), .KEY(SET_PRESENT), .WIDTH(PORTS)) set_present (.clk, .rst, .value(present));

  logic [9*PORTS-1:0] rx;
  logic [PORTS-1:0] rx_hold, cable_busy, tr_head, tr_grant, tr_tail, tr_stall;
  logic [PORTS*4-1:0] tr_out;
  logic [PORTS*32-1:0] count_overflow, overflow_seen;
  logic [PORTS*32-1:0] tr_key;
  logic switch_busy, alarm_valid, alarm_busy;
  logic [47:0] alarm_cycle;

  for (genvar p = 0; p < PORTS; p++) begin : gen_port
    localparam int PORT_UNIT = SWITCH_BASE + SWITCH * PORTS_PER_SWITCH + p;
    logic [7:0] delay;
    logic [31:0] out_port;
    sim_setting #(.UNIT(UNIT), .KEY(SET_CABLE_DELAY + p), .WIDTH(8)) set_delay (.clk, .rst, .value(delay));
    sim_cable #(.CABLE(FIRST_CABLE + p)) cable (
        .clk,
        .rst,
        .cycle,
        .faults,
        .cfg_delay(delay),
        .in(in[9*p+:9]),
        .in_hold(in_hold[p]),
        .rx(rx[9*p+:9]),
        .rx_hold(rx_hold[p]),
        .busy(cable_busy[p])
    );
    assign out_port = {28'd0, tr_out[4*p+:4]};
    sim_probe #(.UNIT(PORT_UNIT), .EVENT(EV_SWITCH_HEAD)) head (
        .clk, .rst, .strobe(tr_head[p]), .packet(32'd0), .argument(out_port), .argument2(64'd0), .ago(32'd0));
    sim_probe #(.UNIT(PORT_UNIT), .EVENT(EV_SWITCH_GRANT)) grant (
        .clk, .rst, .strobe(tr_grant[p]), .packet(32'd0), .argument(out_port), .argument2(64'd0), .ago(32'd0));
    sim_probe #(.UNIT(PORT_UNIT), .EVENT(EV_SWITCH_TAIL)) tail (
        .clk, .rst, .strobe(tr_tail[p]), .packet(tr_key[32*p+:32]), .argument(out_port), .argument2(64'd0), .ago(32'd0));
    sim_level #(.UNIT(PORT_UNIT), .RISE(EV_STALL_START), .FALL(EV_STALL_END)) stall (
        .clk, .rst, .level(tr_stall[p]), .packet(32'd0), .argument(out_port));
  end

  myri_switch #(.PORTS(PORTS)) crossbar (
      .clk,
      .rst,
      .cycle,
      .rx,
      .tx,
      .rx_hold,
      .tx_hold,
      .present,
      .cfg_slack(slack),
      .cfg_stop_mark(stop_mark),
      .cfg_go_mark(go_mark),
      .cfg_refresh(refresh),
      .cfg_short_timeout(short_timeout),
      .cfg_long_timeout(long_timeout),
      .cfg_beat_period(beat_period),
      .cfg_fall_through(fall_through),
      .count_packets(),
      .count_bad_route(),
      .count_absent(),
      .count_forward_reset(),
      .count_overflow,
      .tr_head,
      .tr_grant,
      .tr_tail,
      .tr_stall,
      .tr_out,
      .tr_key,
      .busy(switch_busy),
      .alarm_valid,
      .alarm_cycle
  );
  sim_alarm #(.CLOCK(CLOCK)) wake_up (.clk, .alarm_valid, .alarm_cycle, .cycle, .busy(alarm_busy));
  logic flight_busy;
  sim_flight #(.CLOCK(CLOCK)) flight (.clk, .rst, .level(switch_busy), .busy(flight_busy));
  always_ff @(posedge clk) overflow_seen <= count_overflow;
  sim_invariant #(.UNIT(SWITCH_BASE + SWITCH * PORTS_PER_SWITCH), .CODE(64)) no_overflow (
      .clk, .rst, .strobe(overflow_seen != count_overflow), .packet(32'd0));
  assign awake = flight_busy | (overflow_seen != count_overflow) | switch_busy | (|cable_busy) | alarm_busy;
endmodule
