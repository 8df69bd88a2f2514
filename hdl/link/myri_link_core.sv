// Receivers and transmitters of LANES ports, without the timers that they share.
//
// Timing: wire to stream one edge, stream to wire one edge, one character an edge each way; a
// STOP on the wire stops the stream after the edge that samples it.
module myri_link_core #(
    parameter int LANES      = 1,  // ports
    parameter int SLACK_LOG2 = 7   // slack memory entries of a port = 2**SLACK_LOG2, at most 7
) (
    input logic clk,  // character clock
    input logic rst,  // synchronous reset
    input logic [47:0] cycle,  // absolute index of the coming edge
    input logic beat_due,  // the coming slot belongs to BEAT
    input logic refresh_due,  // STOP is repeated now while in force
    input logic [9*LANES-1:0] rx,  // {data flag, byte} from the cable
    output logic [9*LANES-1:0] tx,  // {data flag, byte} to the cable
    input logic [LANES-1:0] rx_hold,  // the peer's STOP is in force, refreshes computed
    output logic [LANES-1:0] tx_hold,  // the same from our receiver
    input logic [7:0] cfg_slack,  // characters the slack buffer may hold
    input logic [7:0] cfg_stop_mark,  // fill at which STOP is sent
    input logic [7:0] cfg_go_mark,  // fill at which GO is sent
    input logic [15:0] cfg_short_timeout,  // characters without STOP until GO is assumed
    input logic [31:0] cfg_long_timeout,  // characters blocked until a packet is cut
    input logic [LANES-1:0] s_valid,  // packet stream to the wire
    output logic [LANES-1:0] s_ready,  // taken at the coming edge
    input logic [LANES-1:0] s_tail,  // this beat is the GAP
    input logic [8*LANES-1:0] s_data,  // the byte
    output logic [LANES-1:0] m_valid,  // packet stream out of the slack buffer
    input logic [LANES-1:0] m_ready,  // taken at the coming edge
    output logic [LANES-1:0] m_tail,  // this beat is the GAP
    output logic [8*LANES-1:0] m_data,  // the byte
    output logic [LANES-1:0] stopped,  // the peer's STOP is in force here
    output logic [LANES-1:0] stopping,  // STOP is in force at our receiver
    output logic [8*LANES-1:0] fill,  // characters in the slack buffer
    output logic [LANES-1:0] got_beat,  // BEAT is on the wire
    output logic [LANES-1:0] ev_overflow,  // strobe: a character was lost
    output logic [LANES-1:0] ev_illegal,  // strobe: unknown control character
    output logic [LANES-1:0] ev_forward_reset,  // strobe: the packet being sent was cut
    output logic [LANES-1:0] ev_short_timeout,  // strobe: GO assumed
    output logic busy,  // another edge is needed
    output logic alarm_valid,  // wants to be awake at alarm_cycle
    output logic [47:0] alarm_cycle  // index of that edge
);
  logic [LANES-1:0] got_stop;
  logic [LANES-1:0] got_go;
  logic [LANES-1:0] got_data;
  logic             rx_busy;
  logic             tx_busy;

  assign busy = rx_busy || tx_busy;

  myri_link_rx #(
      .LANES(LANES),
      .SLACK_LOG2(SLACK_LOG2)
  ) u_rx (
      .clk(clk),
      .rst(rst),
      .rx(rx),
      .cfg_slack(cfg_slack),
      .cfg_stop_mark(cfg_stop_mark),
      .cfg_go_mark(cfg_go_mark),
      .m_valid(m_valid),
      .m_ready(m_ready),
      .m_tail(m_tail),
      .m_data(m_data),
      .got_stop(got_stop),
      .got_go(got_go),
      .got_data(got_data),
      .got_beat(got_beat),
      .stopping(stopping),
      .fill(fill),
      .ev_overflow(ev_overflow),
      .ev_illegal(ev_illegal),
      .busy(rx_busy)
  );

  myri_link_tx #(
      .LANES(LANES)
  ) u_tx (
      .clk(clk),
      .rst(rst),
      .cycle(cycle),
      .cfg_short_timeout(cfg_short_timeout),
      .cfg_long_timeout(cfg_long_timeout),
      .beat_due(beat_due),
      .refresh_due(refresh_due),
      .stopping(stopping),
      .got_stop(got_stop),
      .got_go(got_go),
      .got_data(got_data),
      .rx_hold(rx_hold),
      .tx_hold(tx_hold),
      .s_valid(s_valid),
      .s_ready(s_ready),
      .s_tail(s_tail),
      .s_data(s_data),
      .tx(tx),
      .stopped(stopped),
      .ev_forward_reset(ev_forward_reset),
      .ev_short_timeout(ev_short_timeout),
      .busy(tx_busy),
      .alarm_valid(alarm_valid),
      .alarm_cycle(alarm_cycle)
  );
endmodule
