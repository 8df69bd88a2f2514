// A crossbar switch as it stands in a cluster: its run-time settings, the cables that arrive at it, its trace points,
// its sleep.
module sim_switch
  import sim_settings_pkg::*;
  import sim_trace_pkg::*;
#(
    parameter int SWITCH = 0,  // number of the switch in the cluster
    parameter int PORTS = 8,  // ports of the crossbar
    parameter int CLOCK = 0,  // index of its clock
    parameter int FIRST_CABLE = 0   // number of the cable direction that arrives at port 0; the others follow
) (
    input  logic               clk,
    input  logic               rst,
    input  logic [       47:0] cycle,
    input  logic               faults,
    input  logic [9*PORTS-1:0] in,       // characters entering the cables at their far ends
    input  logic [  PORTS-1:0] in_hold,
    output logic [9*PORTS-1:0] tx,
    output logic [  PORTS-1:0] tx_hold,
    output logic               awake     // the switch needs edges
);
  localparam int UNIT = SWITCH_UNIT + SWITCH;
  localparam int FIRST = SET_SLACK;
  localparam int COUNT = SET_PRESENT - FIRST + 1;
  logic [32*COUNT-1:0] values;
  sim_setting #(
      .UNIT (UNIT),
      .KEY  (FIRST),
      .COUNT(COUNT)
  ) settings (
      .clk,
      .rst,
      .value(values)
  );

  logic [9*PORTS-1:0] rx;
  logic [PORTS-1:0]
      rx_hold, cable_busy, fill_busy, tr_head, tr_grant, tr_tail, tr_stall, stall_busy;
  logic [PORTS*4-1:0] tr_out;
  logic [PORTS*32-1:0] count_overflow, overflow_seen;
  logic [PORTS*32-1:0] tr_key;
  logic [ PORTS*8-1:0] st_fill;
  logic switch_busy, alarm_valid, busy;
  logic [47:0] alarm_cycle;

  for (genvar p = 0; p < PORTS; p++) begin : gen_port
    localparam int PORT_UNIT = SWITCH_BASE + SWITCH * PORTS_PER_SWITCH + p;
    logic [31:0] out_port;
    sim_cable #(
        .CABLE(FIRST_CABLE + p),
        .UNIT (UNIT),
        .KEY  (SET_CABLE_DELAY + p)
    ) cable (
        .clk,
        .rst,
        .cycle,
        .faults,
        .in(in[9*p+:9]),
        .in_hold(in_hold[p]),
        .rx(rx[9*p+:9]),
        .rx_hold(rx_hold[p]),
        .busy(cable_busy[p])
    );
    assign out_port = {28'd0, tr_out[4*p+:4]};
    sim_probe #(
        .UNIT (PORT_UNIT),
        .EVENT(EV_SWITCH_HEAD)
    ) head (
        .clk,
        .rst,
        .strobe(tr_head[p]),
        .packet(32'd0),
        .argument(out_port),
        .argument2(64'd0),
        .ago(32'd0)
    );
    sim_probe #(
        .UNIT (PORT_UNIT),
        .EVENT(EV_SWITCH_GRANT)
    ) grant (
        .clk,
        .rst,
        .strobe(tr_grant[p]),
        .packet(32'd0),
        .argument(out_port),
        .argument2(64'd0),
        .ago(32'd0)
    );
    sim_probe #(
        .UNIT (PORT_UNIT),
        .EVENT(EV_SWITCH_TAIL)
    ) tail (
        .clk,
        .rst,
        .strobe(tr_tail[p]),
        .packet(tr_key[32*p+:32]),
        .argument(out_port),
        .argument2(64'd0),
        .ago(32'd0)
    );
    sim_level #(
        .UNIT(PORT_UNIT),
        .RISE(EV_STALL_START),
        .FALL(EV_STALL_END)
    ) stall (
        .clk,
        .rst,
        .level(tr_stall[p]),
        .packet(32'd0),
        .argument(out_port),
        .busy(stall_busy[p])
    );
    sim_fill #(
        .UNIT(PORT_UNIT)
    ) fill (
        .clk,
        .rst,
        .held(st_fill[8*p+:8]),
        .busy(fill_busy[p])
    );
  end

  myri_switch #(
      .PORTS(PORTS)
  ) crossbar (
      .clk,
      .rst,
      .cycle,
      .rx,
      .tx,
      .rx_hold,
      .tx_hold,
      .present(values[32*(SET_PRESENT-FIRST)+:PORTS]),
      .cfg_slack(values[32*(SET_SLACK-FIRST)+:8]),
      .cfg_stop_mark(values[32*(SET_STOP_MARK-FIRST)+:8]),
      .cfg_go_mark(values[32*(SET_GO_MARK-FIRST)+:8]),
      .cfg_refresh(values[32*(SET_REFRESH-FIRST)+:16]),
      .cfg_short_timeout(values[32*(SET_SHORT_TIMEOUT-FIRST)+:16]),
      .cfg_long_timeout(values[32*(SET_LONG_TIMEOUT-FIRST)+:32]),
      .cfg_beat_period(values[32*(SET_BEAT_PERIOD-FIRST)+:32]),
      .cfg_fall_through(values[32*(SET_FALL_THROUGH-FIRST)+:8]),
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
      .st_fill,
      .busy(switch_busy),
      .alarm_valid,
      .alarm_cycle
  );
  always_ff @(posedge clk) overflow_seen <= count_overflow;
  sim_invariant #(
      .UNIT(SWITCH_BASE + SWITCH * PORTS_PER_SWITCH),
      .CODE(64)
  ) no_overflow (
      .clk,
      .rst,
      .strobe(overflow_seen != count_overflow),
      .packet(32'd0)
  );
  assign busy = switch_busy | (overflow_seen != count_overflow) | (|cable_busy) | (|fill_busy) | (|stall_busy);
  sim_awake #(
      .CLOCK(CLOCK)
  ) sleep (
      .clk,
      .rst,
      .cycle,
      .busy,
      .in_flight(switch_busy | (|tr_stall)),
      .alarm_valid,
      .alarm_cycle,
      .awake
  );
endmodule
