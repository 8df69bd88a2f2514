// Wormhole crossbar switch: source routed, cut-through, blocking, round robin per output.
//
// A packet's first byte names the output relative to the input (0x80 + six-bit delta) and is stripped. A path is held
// from the route byte to the GAP. A packet with a bad route, or for an absent port, is consumed to its tail and
// counted. Timing with cfg.fall_through = 0: the first byte after the route byte is on `tx` four edges after the edge
// that samples it, followed by one character per edge.
module myri_switch
  import myri_sleep_pkg::*;
  import myri_settings_pkg::*;
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
    output logic [32*PORTS-1:0] count_packets,  // per input: packets forwarded
    output logic [32*PORTS-1:0] count_bad_route,  // per input: dropped, route byte wrong
    output logic [32*PORTS-1:0] count_absent,  // per input: dropped, output not present
    output logic [32*PORTS-1:0] count_forward_reset,  // per output: packets cut
    output logic [32*PORTS-1:0] count_overflow,  // per input: characters lost
    output logic [PORTS-1:0] tr_head,  // per input, strobe: route byte decoded
    output logic [PORTS-1:0] tr_grant,  // per input, strobe: output granted
    output logic [PORTS-1:0] tr_tail,  // per input, strobe: GAP leaves the input
    output logic [PORTS-1:0] tr_stall,  // per input, level: waits for its output
    output logic [4*PORTS-1:0] tr_out,  // per input: output of its packet
    output logic [32*PORTS-1:0] tr_key,  // per input: first four bytes after route
    output logic [8*PORTS-1:0] st_fill,  // per input: characters in its slack buffer
    output logic [PORTS-1:0] st_illegal,  // per input, strobe: unknown control character, ignored
    output logic [PORTS-1:0] st_overflow,  // per input, strobe: a character was lost
    output logic [PORTS-1:0] gated_needed,  // clock enables of these clocks
    output logic busy,  // 1 = a further clock edge is needed
    output alarm_t alarm  // edge at which the clock must run
);
  logic [  PORTS-1:0] m_valid;
  logic [  PORTS-1:0] m_ready;
  logic [  PORTS-1:0] m_tail;
  logic [8*PORTS-1:0] m_data;
  logic [  PORTS-1:0] request;
  logic [4*PORTS-1:0] request_port;
  logic [  PORTS-1:0] active;
  logic [  PORTS-1:0] x_valid;
  logic [  PORTS-1:0] x_tail;
  logic [8*PORTS-1:0] x_data;
  logic [  PORTS-1:0] s_valid;
  logic [  PORTS-1:0] s_ready;
  logic [  PORTS-1:0] s_tail;
  logic [8*PORTS-1:0] s_data;
  logic [  PORTS-1:0] ev_bad_route;
  logic [  PORTS-1:0] ev_absent;
  logic [  PORTS-1:0] ev_forward_reset;
  logic [  PORTS-1:0] ev_overflow;
  logic [  PORTS-1:0] lanes;  // clock of each port
  logic [  PORTS-1:0] rx_needed;
  logic [  PORTS-1:0] tx_needed;
  logic [  PORTS-1:0] input_needed;
  logic [  PORTS-1:0] output_needed;
  logic               link_busy;
  logic               input_busy;
  logic               output_busy;

  if (GATED != 0) begin : gen_gated
    assign lanes = gated_clk;
  end else begin : gen_whole
    logic unused;
    assign unused = ^gated_clk;
    assign lanes  = {PORTS{clk}};
  end
  assign st_overflow = ev_overflow;
  assign busy = link_busy || input_busy || output_busy;
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
      .alarm,
      .cfg(cfg.link),
      .rx_clk(lanes),
      .tx_clk(lanes),
      .stopped(),
      .stopping(),
      .fill(st_fill),
      .got_beat(),
      .ev_illegal(st_illegal),
      .ev_short_timeout(),
      .busy(link_busy)
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
      .tr_out,
      .tr_key,
      .input_needed,
      .cfg_fall_through(cfg.fall_through),
      .gated_clk(lanes),
      .gap_leaves(tr_tail),
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
      .waiting(tr_stall),
      .gap_leaves(tr_tail),
      .busy(output_busy)
  );

  myri_counters #(
      .N(5 * PORTS)
  ) u_counters (
      .clk(clk),
      .rst(rst),
      .strobe({tr_tail, ev_bad_route, ev_absent, ev_forward_reset, ev_overflow}),
      .count({count_packets, count_bad_route, count_absent, count_forward_reset, count_overflow})
  );
endmodule
