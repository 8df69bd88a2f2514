// Wormhole crossbar switch: source routed, cut-through, blocking, round robin per output.
//
// A packet's first byte names the output relative to the input (0x80 + six-bit delta) and is stripped. A path is held
// from the route byte to the GAP. A packet with a bad route, or for an absent port, is consumed to its tail and
// counted. Timing with cfg.fall_through = 0: the first byte after the route byte is on `tx` four edges after the edge
// that samples it, followed by one character per edge.
module myri_switch
  import myri_sleep_pkg::*;
  import myri_settings_pkg::*;
  import myri_switch_pkg::*;
#(
    parameter int PORTS      = 8,  // 4, 8 or 16
    parameter int GATED      = 0,  // 1 = ports run on gated_clk, 0 = on clk
    parameter int SLACK_LOG2 = 7   // slack memory entries per input = 2**SLACK_LOG2
) (
    input logic clk,  // character clock
    input logic [PORTS-1:0] gated_clk,  // clock of each port, gated
    input logic rst,  // synchronous reset
    input logic [47:0] cycle,  // absolute index of the coming edge
    input logic [9*PORTS-1:0] rx,  // characters in, port k at [9k+8:9k]
    output logic [9*PORTS-1:0] tx,  // characters out
    input logic [PORTS-1:0] stop_lasts,  // see myri_link_core
    input logic [PORTS-1:0] present,  // a cable is attached
    input switch_settings_t cfg,  // configuration of the switch
    output logic [SWITCH_TRACE_BITS*PORTS-1:0] port_trace,  // switch_trace_t of each port
    output logic [SWITCH_COUNTS_BITS*PORTS-1:0] port_counts,  // switch_counts_t of each port
    output logic [PORTS-1:0] gated_needed,  // clock enables of these clocks
    output sleep_t sleep  // when clk must run
);
  logic   [   PORTS-1:0] m_valid;
  logic   [   PORTS-1:0] m_ready;
  logic   [   PORTS-1:0] m_tail;
  logic   [ 8*PORTS-1:0] m_data;
  logic   [   PORTS-1:0] request;
  logic   [ 4*PORTS-1:0] request_port;
  logic   [   PORTS-1:0] active;
  logic   [   PORTS-1:0] x_valid;
  logic   [   PORTS-1:0] x_tail;
  logic   [ 8*PORTS-1:0] x_data;
  logic   [   PORTS-1:0] s_valid;
  logic   [   PORTS-1:0] s_ready;
  logic   [   PORTS-1:0] s_tail;
  logic   [ 8*PORTS-1:0] s_data;
  logic   [   PORTS-1:0] ev_bad_route;
  logic   [   PORTS-1:0] ev_absent;
  logic   [   PORTS-1:0] ev_forward_reset;
  logic   [   PORTS-1:0] ev_overflow;
  logic   [   PORTS-1:0] ev_illegal;
  logic   [ 8*PORTS-1:0] fill;
  logic   [   PORTS-1:0] tr_head;
  logic   [   PORTS-1:0] tr_grant;
  logic   [ 4*PORTS-1:0] out;
  logic   [32*PORTS-1:0] key;
  logic   [   PORTS-1:0] waiting;
  logic   [   PORTS-1:0] gap_leaves;
  logic   [32*PORTS-1:0] packets;
  logic   [32*PORTS-1:0] bad_route;
  logic   [32*PORTS-1:0] absent;
  logic   [32*PORTS-1:0] forward_reset;
  logic   [32*PORTS-1:0] overflow;
  logic   [   PORTS-1:0] lanes;  // clock of each port
  logic   [   PORTS-1:0] rx_needed;
  logic   [   PORTS-1:0] tx_needed;
  logic   [   PORTS-1:0] input_needed;
  logic   [   PORTS-1:0] output_needed;
  sleep_t                link_sleep;
  logic                  busy;
  logic                  input_busy;
  logic                  output_busy;

  if (GATED != 0) begin : gen_gated
    assign lanes = gated_clk;
  end else begin : gen_whole
    logic unused;
    assign unused = ^gated_clk;
    assign lanes  = {PORTS{clk}};
  end
  assign busy = input_busy || output_busy;
  assign sleep = both(link_sleep, {1'b1, busy, busy || waiting != '0, NO_ALARM});
  assign gated_needed = rx_needed | tx_needed | input_needed | output_needed;

  myri_link_core #(
      .LANES(PORTS),
      .SLACK_LOG2(SLACK_LOG2)
  ) u_link (
      .clk,
      .rst,
      .cycle,
      .rx,
      .tx,
      .stop_lasts,
      .s_valid,
      .s_ready,
      .s_tail,
      .s_data,
      .m_valid,
      .m_ready,
      .m_tail,
      .m_data,
      .ev_overflow,
      .ev_forward_reset,
      .rx_needed,
      .tx_needed,
      .cfg(cfg.link),
      .rx_clk(lanes),
      .tx_clk(lanes),
      .stopped(),
      .stopping(),
      .fill,
      .got_beat(),
      .ev_illegal,
      .ev_short_timeout(),
      .sleep(link_sleep)
  );

  myri_switch_input #(
      .PORTS(PORTS)
  ) u_input (
      .clk,
      .rst,
      .present,
      .m_valid,
      .m_ready,
      .m_tail,
      .m_data,
      .request,
      .request_port,
      .active,
      .x_valid,
      .s_ready,
      .x_tail,
      .x_data,
      .ev_bad_route,
      .ev_absent,
      .tr_head,
      .input_needed,
      .cfg_fall_through(cfg.fall_through),
      .gated_clk(lanes),
      .out,
      .key,
      .gap_leaves,
      .busy(input_busy)
  );

  myri_switch_output #(
      .PORTS(PORTS)
  ) u_output (
      .clk,
      .rst,
      .request,
      .request_port,
      .active,
      .tr_grant,
      .x_valid,
      .x_tail,
      .x_data,
      .s_valid,
      .s_ready,
      .s_tail,
      .s_data,
      .output_needed,
      .gated_clk(lanes),
      .waiting,
      .gap_leaves,
      .busy(output_busy)
  );

  myri_counters #(
      .N(5 * PORTS)
  ) u_counters (
      .clk(clk),
      .rst(rst),
      .strobe({gap_leaves, ev_bad_route, ev_absent, ev_forward_reset, ev_overflow}),
      .count({packets, bad_route, absent, forward_reset, overflow})
  );

  for (genvar p = 0; p < PORTS; p++) begin : gen_observed
    switch_trace_t  seen;
    switch_counts_t counted;
    assign seen.head = tr_head[p];
    assign seen.grant = tr_grant[p];
    assign seen.queued = 1'b0;
    assign seen.tail = gap_leaves[p];
    assign seen.stall = waiting[p];
    assign seen.illegal = ev_illegal[p];
    assign seen.overflow = ev_overflow[p];
    assign seen.out = out[4*p+:4];
    assign seen.fill = fill[8*p+:8];
    assign seen.key = key[32*p+:32];
    assign counted.packets = packets[32*p+:32];
    assign counted.queued = 32'd0;
    assign counted.bad_route = bad_route[32*p+:32];
    assign counted.absent = absent[32*p+:32];
    assign counted.overflow = overflow[32*p+:32];
    assign counted.forward_reset = forward_reset[32*p+:32];
    assign port_trace[SWITCH_TRACE_BITS*p+:SWITCH_TRACE_BITS] = seen;
    assign port_counts[SWITCH_COUNTS_BITS*p+:SWITCH_COUNTS_BITS] = counted;
  end
endmodule
