// Receivers and transmitters of LANES ports, with their shared BEAT and STOP timers.
//
// Timing: wire to stream one edge, stream to wire one edge, one character per edge in each direction. A STOP on the
// wire stops the stream after the edge that samples it. BEAT and STOP refresh have slots at absolute multiples of their
// periods. They use these slots while the clock runs and never keep it running.
module myri_link_core
  import myri_sleep_pkg::*;
  import myri_settings_pkg::*;
#(
    parameter int LANES      = 1,  // ports
    parameter int SLACK_LOG2 = 7   // slack memory entries of a port = 2**SLACK_LOG2, at most 7
) (
    input logic clk,  // character clock
    input logic [LANES-1:0] rx_clk,  // clock of each receiver; edges with rx_needed = 0 may be skipped
    input logic [LANES-1:0] tx_clk,  // clock of each transmitter; edges with tx_needed = 0 may be skipped
    input logic rst,  // synchronous reset
    input logic [47:0] cycle,  // absolute index of the coming edge
    input logic [9*LANES-1:0] rx,  // {data flag, byte} from the cable
    output logic [9*LANES-1:0] tx,  // {data flag, byte} to the cable
    input logic [LANES-1:0] stop_lasts,  // the peer's STOP is in force without refreshes (simulation); 0 in hardware
    input link_settings_t cfg,  // configuration of the ports
    input logic [LANES-1:0] s_valid,  // packet stream to the wire
    output logic [LANES-1:0] s_ready,  // accepted at the coming edge
    input logic [LANES-1:0] s_tail,  // this beat is the GAP
    input logic [8*LANES-1:0] s_data,  // byte
    output logic [LANES-1:0] m_valid,  // packet stream out of the slack buffer
    input logic [LANES-1:0] m_ready,  // accepted at the coming edge
    output logic [LANES-1:0] m_tail,  // this beat is the GAP
    output logic [8*LANES-1:0] m_data,  // byte
    output logic [LANES-1:0] stopped,  // the peer's STOP is in force
    output logic [LANES-1:0] stopping,  // STOP is in force at the local receiver
    output logic [8*LANES-1:0] fill,  // characters in the slack buffer
    output logic [LANES-1:0] got_beat,  // BEAT is on the wire
    output logic [LANES-1:0] ev_overflow,  // strobe: a character was lost
    output logic [LANES-1:0] ev_illegal,  // strobe: unknown control character
    output logic [LANES-1:0] ev_forward_reset,  // strobe: the packet being sent was cut
    output logic [LANES-1:0] ev_short_timeout,  // strobe: GO assumed
    output logic [LANES-1:0] rx_needed,  // 1 = the coming edge of rx_clk is needed
    output logic [LANES-1:0] tx_needed,  // 1 = the coming edge of tx_clk is needed
    output sleep_t sleep  // when clk must run
);
  logic   [LANES-1:0] got_stop;
  logic   [LANES-1:0] got_go;
  logic   [LANES-1:0] got_data;
  logic               beat_due;  // the coming slot belongs to BEAT
  logic               refresh_due;  // STOP is repeated now while in force
  logic               rx_busy;
  sleep_t             tx_sleep;

  assign sleep = both(tx_sleep, {1'b1, rx_busy, rx_busy, NO_ALARM});

  myri_link_timer #(
      .WIDTH(32)
  ) u_beat_timer (
      .clk(clk),
      .rst(rst),
      .cycle(cycle),
      .period(cfg.beat_period),
      .due(beat_due)
  );

  myri_link_timer #(
      .WIDTH(16)
  ) u_refresh_timer (
      .clk(clk),
      .rst(rst),
      .cycle(cycle),
      .period(cfg.refresh),
      .due(refresh_due)
  );

  myri_link_rx #(
      .LANES(LANES),
      .SLACK_LOG2(SLACK_LOG2)
  ) u_rx (
      .rx_clk,
      .rst,
      .rx,
      .cfg,
      .m_valid,
      .m_ready,
      .m_tail,
      .m_data,
      .got_stop,
      .got_go,
      .got_data,
      .got_beat,
      .stopping,
      .fill,
      .ev_overflow,
      .ev_illegal,
      .rx_needed,
      .busy(rx_busy)
  );

  myri_link_tx #(
      .LANES(LANES)
  ) u_tx (
      .clk,
      .tx_clk,
      .rst,
      .cycle,
      .cfg,
      .beat_due,
      .refresh_due,
      .stopping,
      .got_stop,
      .got_go,
      .got_data,
      .stop_lasts,
      .s_valid,
      .s_ready,
      .s_tail,
      .s_data,
      .tx,
      .stopped,
      .ev_forward_reset,
      .ev_short_timeout,
      .tx_needed,
      .sleep(tx_sleep)
  );
endmodule
