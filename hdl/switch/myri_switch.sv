// Wormhole crossbar switch: source routed, cut-through, blocking, round-robin per output.
//
// A packet's first byte names the output relative to the input (0x80 + six-bit delta) and is
// stripped; a path is held from the route byte to the GAP. Bad routes and absent ports: the packet
// is consumed to its tail and counted. Timing, cfg_fall_through = 0: the first byte after the
// route byte is on `tx` four edges after the edge that samples it; a character an edge after that.
module myri_switch #(
    parameter int PORTS      = 8,  // 4, 8 or 16
    parameter int SLACK_LOG2 = 7   // slack memory entries per input = 2**SLACK_LOG2
) (
    input  logic                clk,                  // character clock
    input  logic                rst,                  // synchronous reset
    input  logic [        47:0] cycle,                // absolute index of the coming edge
    input  logic [ 9*PORTS-1:0] rx,                   // characters in, port k at [9k+8:9k]
    output logic [ 9*PORTS-1:0] tx,                   // characters out
    input  logic [   PORTS-1:0] rx_hold,              // see myri_link_port
    output logic [   PORTS-1:0] tx_hold,              // see myri_link_port
    input  logic [   PORTS-1:0] present,              // a cable is attached
    input  logic [         7:0] cfg_slack,            // characters a slack buffer may hold (80)
    input  logic [         7:0] cfg_stop_mark,        // fill at which STOP is sent (56)
    input  logic [         7:0] cfg_go_mark,          // fill at which GO is sent (40)
    input  logic [        15:0] cfg_refresh,          // STOP repeated at multiples of it (8)
    input  logic [        15:0] cfg_short_timeout,    // characters without STOP until GO (16)
    input  logic [        31:0] cfg_long_timeout,     // characters blocked until cut; 0 = off
    input  logic [        31:0] cfg_beat_period,      // BEAT at multiples of it; 0 = off
    input  logic [         7:0] cfg_fall_through,     // edges from route byte to request
    output logic [32*PORTS-1:0] count_packets,        // per input: packets forwarded
    output logic [32*PORTS-1:0] count_bad_route,      // per input: dropped, route byte wrong
    output logic [32*PORTS-1:0] count_absent,         // per input: dropped, output not present
    output logic [32*PORTS-1:0] count_forward_reset,  // per output: packets cut
    output logic [32*PORTS-1:0] count_overflow,       // per input: characters lost
    output logic [   PORTS-1:0] tr_head,              // per input, strobe: route byte decoded
    output logic [   PORTS-1:0] tr_grant,             // per input, strobe: output granted
    output logic [   PORTS-1:0] tr_tail,              // per input, strobe: GAP leaves the input
    output logic [   PORTS-1:0] tr_stall,             // per input, level: waits for its output
    output logic [ 4*PORTS-1:0] tr_out,               // per input: output of its packet
    output logic [32*PORTS-1:0] tr_key,               // per input: first four bytes after route
    output logic [ 8*PORTS-1:0] st_fill,              // per input: characters in its slack buffer
    output logic                busy,                 // another edge is needed
    output logic                alarm_valid,          // wants to be awake at alarm_cycle
    output logic [        47:0] alarm_cycle           // index of that edge
);
  logic               beat_due;
  logic               refresh_due;
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
  logic               link_busy;
  logic               input_busy;
  logic               output_busy;
  logic [  PORTS-1:0] unused_stopped;
  logic [  PORTS-1:0] unused_stopping;
  logic [  PORTS-1:0] unused_got_beat;
  logic [  PORTS-1:0] unused_ev_illegal;
  logic [  PORTS-1:0] unused_ev_short_timeout;

  assign busy = link_busy || input_busy || output_busy;

  myri_link_timer #(
      .WIDTH(32)
  ) u_beat_timer (
      .clk(clk),
      .rst(rst),
      .cycle(cycle),
      .period(cfg_beat_period),
      .due(beat_due)
  );

  myri_link_timer #(
      .WIDTH(16)
  ) u_refresh_timer (
      .clk(clk),
      .rst(rst),
      .cycle(cycle),
      .period(cfg_refresh),
      .due(refresh_due)
  );

  myri_link_core #(
      .LANES(PORTS),
      .SLACK_LOG2(SLACK_LOG2)
  ) u_link (
      .clk(clk),
      .rst(rst),
      .cycle(cycle),
      .beat_due(beat_due),
      .refresh_due(refresh_due),
      .rx(rx),
      .tx(tx),
      .rx_hold(rx_hold),
      .tx_hold(tx_hold),
      .cfg_slack(cfg_slack),
      .cfg_stop_mark(cfg_stop_mark),
      .cfg_go_mark(cfg_go_mark),
      .cfg_short_timeout(cfg_short_timeout),
      .cfg_long_timeout(cfg_long_timeout),
      .s_valid(s_valid),
      .s_ready(s_ready),
      .s_tail(s_tail),
      .s_data(s_data),
      .m_valid(m_valid),
      .m_ready(m_ready),
      .m_tail(m_tail),
      .m_data(m_data),
      .stopped(unused_stopped),
      .stopping(unused_stopping),
      .fill(st_fill),
      .got_beat(unused_got_beat),
      .ev_overflow(ev_overflow),
      .ev_illegal(unused_ev_illegal),
      .ev_forward_reset(ev_forward_reset),
      .ev_short_timeout(unused_ev_short_timeout),
      .busy(link_busy),
      .alarm_valid(alarm_valid),
      .alarm_cycle(alarm_cycle)
  );

  myri_switch_input #(
      .PORTS(PORTS)
  ) u_input (
      .clk(clk),
      .rst(rst),
      .present(present),
      .cfg_fall_through(cfg_fall_through),
      .m_valid(m_valid),
      .m_ready(m_ready),
      .m_tail(m_tail),
      .m_data(m_data),
      .request(request),
      .request_port(request_port),
      .active(active),
      .x_valid(x_valid),
      .s_ready(s_ready),
      .x_tail(x_tail),
      .x_data(x_data),
      .ev_packet(tr_tail),
      .ev_bad_route(ev_bad_route),
      .ev_absent(ev_absent),
      .tr_head(tr_head),
      .tr_out(tr_out),
      .tr_key(tr_key),
      .busy(input_busy)
  );

  myri_switch_output #(
      .PORTS(PORTS)
  ) u_output (
      .clk(clk),
      .rst(rst),
      .request(request),
      .request_port(request_port),
      .waiting(tr_stall),
      .active(active),
      .tr_grant(tr_grant),
      .ev_packet(tr_tail),
      .x_valid(x_valid),
      .x_tail(x_tail),
      .x_data(x_data),
      .s_valid(s_valid),
      .s_ready(s_ready),
      .s_tail(s_tail),
      .s_data(s_data),
      .busy(output_busy)
  );

  // Counters: looked at only when something happened anywhere.
  logic counting;
  assign counting = (tr_tail | ev_bad_route | ev_absent | ev_forward_reset | ev_overflow) != '0;

  for (genvar p = 0; p < PORTS; p++) begin : gen_count
    always_ff @(posedge clk) begin
      if (rst) begin
        count_packets[32*p+:32] <= 32'd0;
        count_bad_route[32*p+:32] <= 32'd0;
        count_absent[32*p+:32] <= 32'd0;
        count_forward_reset[32*p+:32] <= 32'd0;
        count_overflow[32*p+:32] <= 32'd0;
      end else if (counting) begin
        if (tr_tail[p]) count_packets[32*p+:32] <= count_packets[32*p+:32] + 32'd1;
        if (ev_bad_route[p]) count_bad_route[32*p+:32] <= count_bad_route[32*p+:32] + 32'd1;
        if (ev_absent[p]) count_absent[32*p+:32] <= count_absent[32*p+:32] + 32'd1;
        if (ev_forward_reset[p])
          count_forward_reset[32*p+:32] <= count_forward_reset[32*p+:32] + 32'd1;
        if (ev_overflow[p]) count_overflow[32*p+:32] <= count_overflow[32*p+:32] + 32'd1;
      end
    end
  end
endmodule
