// Full-duplex link port: transmitter, receiver with slack buffer, BEAT monitor.
//
// Timing: see myri_link_core.
module myri_link_port
  import myri_sleep_pkg::*;
  import myri_settings_pkg::*;
  import myri_link_pkg::*;
#(
    parameter int GATED = 0,  // 1 = receiver and transmitter run on rx_clk and tx_clk, 0 = on clk
    parameter int SLACK_LOG2 = 7  // slack memory entries = 2**SLACK_LOG2, at most 7
) (
    input logic clk,  // character clock
    input logic rx_clk,  // clock of the receiver; edges with rx_needed = 0 may be skipped
    input logic tx_clk,  // clock of the transmitter; edges with tx_needed = 0 may be skipped
    input logic rst,  // synchronous reset
    input logic [47:0] cycle,  // absolute index of the coming edge
    input logic [8:0] rx,  // {data flag, byte} from the cable
    output logic [8:0] tx,  // {data flag, byte} to the cable
    input logic stop_lasts,  // the peer's STOP is in force without refreshes (simulation); 0 in hardware
    input link_settings_t cfg,  // configuration of the port
    input logic s_valid,  // packet stream to the wire
    output logic s_ready,  // accepted at the coming edge
    input logic s_tail,  // this beat is the GAP
    input logic [7:0] s_data,  // byte
    output logic m_valid,  // packet stream out of the slack buffer
    input logic m_ready,  // accepted at the coming edge
    output logic m_tail,  // this beat is the GAP
    output logic [7:0] m_data,  // byte
    output link_status_t status,  // state and events
    output logic rx_needed,  // 1 = the coming edge of rx_clk is needed
    output logic tx_needed,  // 1 = the coming edge of tx_clk is needed
    output sleep_t sleep  // when clk must run
);
  logic got_beat;

  myri_link_core #(
      .LANES(1),
      .SLACK_LOG2(SLACK_LOG2)
  ) u_core (
      .clk,
      .rst,
      .cycle,
      .rx,
      .tx,
      .stop_lasts,
      .cfg,
      .s_valid,
      .s_ready,
      .s_tail,
      .s_data,
      .m_valid,
      .m_ready,
      .m_tail,
      .m_data,
      .got_beat,
      .rx_needed,
      .tx_needed,
      .sleep,
      .stopped(status.stopped),
      .stopping(status.stopping),
      .fill(status.fill),
      .ev_overflow(status.overflow),
      .ev_illegal(status.illegal),
      .ev_forward_reset(status.forward_reset),
      .ev_short_timeout(status.short_timeout),
      .rx_clk((GATED != 0) ? rx_clk : clk),
      .tx_clk((GATED != 0) ? tx_clk : clk)
  );

  myri_link_beat u_beat (
      .clk,
      .rst,
      .cycle,
      .cfg,
      .got_beat,
      .beat_seen  (status.beat_seen),
      .beat_missed(status.beat_missed),
      .link_down  (status.link_down)
  );
endmodule
