// Link side of the NIC: packet transmitter and receiver, the link port, and the crossings.
//
// Send: crossing -> myri_packet_tx -> myri_link_port. Receive: myri_link_port -> myri_packet_rx -> crossing. Link
// events (rising levels) cross to the NIC clock as strobes.
// Timing: see the parts; each crossing costs cfg.cdc_latency.
module myri_nic_link
  import myri_sleep_pkg::*;
  import myri_nic_trace_pkg::*;
  import myri_nic_engines_pkg::*;
  import myri_settings_pkg::*;
  import myri_link_pkg::*;
#(
    parameter int SLACK_LOG2 = 7,   // slack memory of the link port
    parameter int FIFO_LOG2  = 4,   // entries of a data crossing = 2**FIFO_LOG2
    parameter int WIDTH      = 64,  // bits of a word of SRAM
    parameter int KEY_AT     = -1,  // position of the packet's key in bytes, see myri_packet_tx
    parameter bit RELATED    = 0    // the clocks are of one root, see myri_cdc_fifo
) (
    input logic link_clk,  // character clock
    input logic [HALVES-1:0] link_gated_clk,  // clocks of its halves, gated
    input logic link_rst,  // synchronous reset
    input logic [47:0] link_cycle,  // index of the coming edge
    input logic [8:0] rx,  // {data flag, byte} from the cable
    output logic [8:0] tx,  // {data flag, byte} to the cable
    input logic stop_lasts,  // see myri_link_port
    input nic_settings_t cfg,  // configuration of the NIC
    output link_trace_t link_trace,  // link_clk: of the link
    output logic [HALVES-1:0] link_gated_needed,  // clock enables of these clocks
    output sleep_t link_sleep,  // when link_clk must run
    input logic clk,  // NIC clock of link_event; edges with event_busy = 0 may be skipped
    input logic send_clk,  // clk of the crossing to the link; edges with send_busy = 0 may be skipped
    input logic recv_clk,  // clk of the crossing from the link; edges with recv_busy = 0 may be skipped
    input logic rst,  // synchronous reset
    input logic send_valid,  // entry from myri_net_send
    output logic send_ready,  // accepted
    input send_head_t send_head,  // entry
    input logic [WIDTH-1:0] send_data,  // its word
    output logic recv_valid,  // entry for myri_net_recv
    input logic recv_ready,  // accepted
    output recv_head_t recv_head,  // entry
    output logic [WIDTH-1:0] recv_data,  // its word
    output link_event_t link_event,  // strobes
    output logic send_busy,  // 1 = the coming edge of send_clk is needed
    output logic recv_busy,  // 1 = the coming edge of recv_clk is needed
    output logic event_busy,  // 1 = the coming edge of clk is needed
    output logic busy  // NIC clock: 1 = a further edge is needed
);
  logic link_busy, link_in_flight;
  tx_trace_t  tx_trace;
  rx_trace_t  rx_trace;
  send_head_t tx_head;
  recv_head_t rx_head;
  logic [WIDTH-1:0] tx_word, rx_word;
  logic tx_entry_valid, tx_entry_ready, rx_entry_valid, rx_entry_ready;
  logic s_valid, s_ready, s_tail, m_valid, m_ready, m_tail;
  logic [7:0] s_data, m_data;
  logic tx_in_packet, rx_in_packet;
  logic ptx_busy, prx_busy, rx_needed, tx_needed;
  logic [2:0] near_busy;  // NIC side of the crossings
  logic [2:0] far_busy;  // link side
  link_status_t status;
  sleep_t port_sleep;
  logic [2:0] level, level_before_q;
  link_event_t link_now;

  assign {link_trace.tx_head, link_trace.tx_tail, link_trace.tx_key, link_trace.tx_ago} = tx_trace;
  assign {
    link_trace.rx_head,
    link_trace.rx_tail,
    link_trace.rx_key,
    link_trace.rx_ago,
    link_trace.rx_bytes,
    link_trace.rx_syndrome
  } = rx_trace;
  assign send_busy = near_busy[0];
  assign recv_busy = near_busy[1];
  assign event_busy = near_busy[2];
  assign busy = near_busy != 3'd0;
  assign link_trace.link_stopped = status.stopped;
  assign link_trace.link_stopping = status.stopping;
  assign link_trace.fill = status.fill;
  assign link_trace.rx_overrun = status.overflow;
  assign link_trace.illegal = status.illegal;
  assign link_trace.forward_reset = status.forward_reset;
  assign link_trace.beat_missed = status.beat_missed;
  assign link_trace.link_down = status.link_down;
  assign link_gated_needed[HALF_TX] = ptx_busy || tx_needed || far_busy[0];
  assign link_gated_needed[HALF_RX] = prx_busy || rx_needed || far_busy[1];
  assign link_sleep = {link_busy, link_busy, link_in_flight, port_sleep.alarm};
  assign link_busy = ptx_busy || prx_busy || port_sleep.busy || far_busy != 3'd0 || level != level_before_q;
  assign link_in_flight = tx_in_packet || rx_in_packet || tx_entry_valid || link_trace.fill != 8'd0;

  myri_cdc_fifo #(
      .WIDTH($bits(send_head_t) + WIDTH),
      .DEPTH_LOG2(FIFO_LOG2),
      .RELATED(RELATED)
  ) u_to_link (
      .cfg_latency(cfg.cdc_latency),
      .w_clk(send_clk),
      .w_rst(rst),
      .w_valid(send_valid),
      .w_ready(send_ready),
      .w_data({send_head, send_data}),
      .w_busy(near_busy[0]),
      .r_clk(link_gated_clk[HALF_TX]),
      .r_rst(link_rst),
      .r_valid(tx_entry_valid),
      .r_ready(tx_entry_ready),
      .r_data({tx_head, tx_word}),
      .r_busy(far_busy[0])
  );

  myri_packet_tx #(
      .WIDTH (WIDTH),
      .KEY_AT(KEY_AT)
  ) u_packet_tx (
      .s_valid,
      .s_ready,
      .s_tail,
      .s_data,
      .clk(link_gated_clk[HALF_TX]),
      .rst(link_rst),
      .cycle(link_cycle),
      .in_valid(tx_entry_valid),
      .in_ready(tx_entry_ready),
      .in_head(tx_head),
      .in_data(tx_word),
      .trace(tx_trace),
      .in_packet(tx_in_packet),
      .busy(ptx_busy)
  );

  myri_link_port #(
      .GATED(1),
      .SLACK_LOG2(SLACK_LOG2)
  ) u_port (
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
      .status,
      .rx_needed,
      .tx_needed,
      .clk(link_clk),
      .rx_clk(link_gated_clk[HALF_RX]),
      .tx_clk(link_gated_clk[HALF_TX]),
      .rst(link_rst),
      .cycle(link_cycle),
      .cfg(cfg.link),
      .sleep(port_sleep)
  );

  myri_packet_rx #(
      .WIDTH (WIDTH),
      .KEY_AT(KEY_AT)
  ) u_packet_rx (
      .m_valid,
      .m_ready,
      .m_tail,
      .m_data,
      .clk(link_gated_clk[HALF_RX]),
      .rst(link_rst),
      .cycle(link_cycle),
      .out_valid(rx_entry_valid),
      .out_ready(rx_entry_ready),
      .out_head(rx_head),
      .out_data(rx_word),
      .trace(rx_trace),
      .crc_bad(link_trace.crc_bad),
      .in_packet(rx_in_packet),
      .busy(prx_busy)
  );

  myri_cdc_fifo #(
      .WIDTH($bits(recv_head_t) + WIDTH),
      .DEPTH_LOG2(FIFO_LOG2),
      .RELATED(RELATED)
  ) u_from_link (
      .cfg_latency(cfg.cdc_latency),
      .w_clk(link_gated_clk[HALF_RX]),
      .w_rst(link_rst),
      .w_valid(rx_entry_valid),
      .w_ready(rx_entry_ready),
      .w_data({rx_head, rx_word}),
      .w_busy(far_busy[1]),
      .r_clk(recv_clk),
      .r_rst(rst),
      .r_valid(recv_valid),
      .r_ready(recv_ready),
      .r_data({recv_head, recv_data}),
      .r_busy(near_busy[1])
  );

  // A rising level is an event.
  assign level = {link_trace.link_down, link_trace.beat_missed, status.beat_seen};
  always_ff @(posedge link_clk) begin
    if (link_rst) level_before_q <= 3'd0;
    else level_before_q <= level;
  end

  assign link_now = {
    level & ~level_before_q, link_trace.forward_reset, link_trace.illegal, link_trace.tx_tail
  };
  myri_event_cross #(
      .N($bits(link_event_t)),
      .RELATED(RELATED)
  ) u_events (
      .cfg_latency(cfg.cdc_latency),
      .w_clk(link_clk),
      .w_rst(link_rst),
      .w_event(link_now),
      .w_busy(far_busy[2]),
      .r_clk(clk),
      .r_rst(rst),
      .r_event(link_event),
      .r_busy(near_busy[2])
  );

  logic unused_ok;
  assign unused_ok = status.short_timeout ^ port_sleep.needed ^ port_sleep.in_flight;
endmodule
