// Switch in a cluster, Myrinet's crossbar or the SP switch: run-time settings, arriving cables, trace points, and the
// sleep of its clock.
module sim_switch
  import myri_sleep_pkg::*;
  import myri_settings_pkg::*;
  import myri_switch_pkg::*;
  import sim_settings_pkg::*;
  import sim_trace_pkg::*;
#(
    parameter int SP = 0,  // 1 = the SP switch, 0 = the crossbar
    parameter int SWITCH = 0,  // number of the switch in the cluster
    parameter int PORTS = 8,  // its ports
    parameter int CLOCK = 0,  // index of its clock
    parameter int FIRST_CABLE = 0,  // number of the cable direction that arrives at port 0; the others follow
    parameter int CARRIED = 0,  // see sim_cable
    parameter int MONITOR = 0  // 1 = with monitors of its links
) (
    input logic clk,
    input logic setup_gated_clk,  // clock of the settings: needed in reset only
    output logic setup_gated_needed,
    input logic [PORTS-1:0] gated_clk,  // clock of each port, gated
    output logic [PORTS-1:0] gated_needed,
    input logic rst,
    input logic [47:0] cycle,
    input logic faults,
    input logic [9*PORTS-1:0] in,  // characters that enter the cables at their far ends
    output logic [9*PORTS-1:0] tx,
    output logic awake  // 1 = the switch needs clock edges
);
  localparam int UNIT = SWITCH_UNIT + SWITCH;
  switch_settings_t cfg;
  logic [31:0] present, cfg_beat_period;
  logic [PORTS*8-1:0] cable_delay;
  always_ff @(posedge setup_gated_clk) if (rst) cfg <= switch_settings(UNIT);
  sim_setting #(
      .UNIT(UNIT),
      .KEY (SET_PRESENT)
  ) present_setting (
      .clk  (setup_gated_clk),
      .rst,
      .value(present)
  );
  sim_setting #(
      .UNIT (UNIT),
      .KEY  (SET_CABLE_DELAY),
      .COUNT(PORTS),
      .WIDTH(8)
  ) delay_setting (
      .clk  (setup_gated_clk),
      .rst,
      .value(cable_delay)
  );
  sim_setting #(
      .UNIT(UNIT),
      .KEY (SET_BEAT_PERIOD)
  ) beat_period_setting (
      .clk  (setup_gated_clk),
      .rst,
      .value(cfg_beat_period)
  );

  logic [9*PORTS-1:0] rx;
  logic [PORTS-1:0] stop_lasts, port_busy;
  logic [SWITCH_TRACE_BITS*PORTS-1:0] port_trace;
  logic [PORTS-1:0] tr_head, tr_grant, tr_queue, tr_tail, tr_stall, lost;  // of `port_trace`
  logic [PORTS-1:0] stalled_q, lost_q;  // tr_stall and lost as of the last edge
  logic [PORTS-1:0] changing, traced;  // ports with an event for the trace or an invariant
  logic [PORTS-1:0] beat_owed, beat_busy, struck;
  logic [PORTS-1:0] chip_needed;
  logic queue_busy, beat_alarm_busy, busy;
  sleep_t chip_sleep;
  alarm_t beat_alarm;

  for (genvar p = 0; p < PORTS; p++) begin : gen_port
    switch_trace_t seen;
    assign seen = port_trace[SWITCH_TRACE_BITS*p+:SWITCH_TRACE_BITS];
    assign {tr_head[p], tr_grant[p], tr_queue[p]} = {seen.head, seen.grant, seen.queued};
    assign {tr_tail[p], tr_stall[p], lost[p]} = {seen.tail, seen.stall, seen.overflow};
    sim_switch_port #(
        .CABLE(FIRST_CABLE + p),
        .SWITCH(SWITCH),
        .PORT(p),
        .CARRIED(CARRIED)
    ) port (
        .clk(gated_clk[p]),
        .rst,
        .cycle,
        .faults,
        .beat_owed(beat_owed[p]),
        .in(in[9*p+:9]),
        .rx(rx[9*p+:9]),
        .stop_lasts(stop_lasts[p]),
        .cable_delay(cable_delay[8*p+:8]),
        .struck(struck[p]),
        .trace(seen),
        .lost(lost_q[p]),
        .busy(port_busy[p])
    );
  end

  logic [PORTS-1:0] monitor_busy;
  for (genvar p = 0; p < PORTS; p++) begin : gen_watched
    if (MONITOR != 0) begin : gen_monitor
      sim_monitor #(
          .UNIT(SWITCH_BASE + SWITCH * PORTS_PER_SWITCH + p)
      ) monitor (
          .clk,
          .rst,
          .wires({110'd0, tx[9*p+8] ? 9'd0 : tx[9*p+:9], rx[9*p+:9]}),  // see sim_node
          .ends (rx[9*p+:9] == myri_symbol_pkg::GAP),
          .busy (monitor_busy[p])
      );
    end else begin : gen_no_monitor
      assign monitor_busy[p] = 1'b0;
    end
  end

  if (SP != 0) begin : gen_sp
    logic [15:0] chunks;
    assign chip_needed = '1;
    sp_switch #(
        .PORTS(PORTS)
    ) chip (
        .clk,
        .rst,
        .cycle,
        .rx,
        .tx,
        .stop_lasts,
        .cfg,
        .port_trace,
        .present(present[PORTS-1:0]),
        .port_counts(),
        .st_chunks(chunks),
        .sleep(chip_sleep)
    );
    sim_fill #(
        .UNIT (SWITCH_BASE + SWITCH * PORTS_PER_SWITCH + CENTRAL_QUEUE),
        .EVENT(EV_QUEUE_FILL),
        .WIDTH(16),
        .BYTES(8),
        .PEAKS(1)
    ) fill (
        .clk,
        .rst,
        .held(chunks),
        .busy(queue_busy)
    );
    sim_invariant #(
        .UNIT(SWITCH_BASE + SWITCH * PORTS_PER_SWITCH + CENTRAL_QUEUE),
        .CODE(79)
    ) no_more_than_fits (
        .clk,
        .rst,
        .strobe(chunks > cfg.central_chunks),
        .packet(32'd0)
    );
  end else begin : gen_crossbar
    myri_switch #(
        .PORTS(PORTS),
        .GATED(1)
    ) chip (
        .clk,
        .gated_clk,
        .rst,
        .cycle,
        .rx,
        .tx,
        .stop_lasts,
        .cfg,
        .port_trace,
        .gated_needed(chip_needed),
        .present(present[PORTS-1:0]),
        .port_counts(),
        .sleep(chip_sleep)
    );
    assign queue_busy = 1'b0;
  end

  assign setup_gated_needed = 1'b0;
  assign changing = (tr_stall ^ stalled_q) | lost_q;
  assign traced = tr_head | tr_grant | tr_queue | tr_tail;
  assign gated_needed = chip_needed | port_busy | changing | beat_owed | beat_busy | traced;
  always_ff @(posedge clk) begin
    stalled_q <= rst ? '0 : tr_stall;
    lost_q <= rst ? '0 : lost;
  end

  sim_beats #(
      .LANES(PORTS)
  ) beats (
      .clk,
      .rst,
      .cycle,
      .cfg_beat_period,
      .struck,
      .present(present[PORTS-1:0]),
      .cfg_delay(cable_delay),
      .due(beat_owed),
      .busy(beat_busy),
      .alarm(beat_alarm)
  );
  sim_alarm #(
      .CLOCK(CLOCK)
  ) beat_wake_up (
      .clk,
      .alarm(beat_alarm),
      .cycle,
      .busy (beat_alarm_busy)
  );

  logic [PORTS-1:0] ports_busy;
  assign ports_busy = port_busy | changing | beat_busy | monitor_busy;
  assign busy = chip_sleep.busy | queue_busy | beat_alarm_busy | (ports_busy != '0);
  sim_awake #(
      .CLOCK(CLOCK)
  ) sleep (
      .clk,
      .rst,
      .cycle,
      .busy,
      .in_flight(chip_sleep.in_flight),
      .alarm(chip_sleep.alarm),
      .awake
  );
endmodule
