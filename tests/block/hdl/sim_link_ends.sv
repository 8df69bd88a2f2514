// Both ends of a link with their cables, without the timers of BEAT and of the STOP refresh: in a proof these occur at
// arbitrary times.
//
// Timing: see myri_link_rx, myri_link_tx and myri_cable.
module sim_link_ends
  import myri_sleep_pkg::*;
  import myri_settings_pkg::*;
#(
    parameter int SLACK_LOG2 = 4,  // slack memory entries of an end = 2**SLACK_LOG2
    parameter int MAX_LOG2   = 2   // places in a cable = 2**MAX_LOG2
) (
    input logic clk,  // character clock
    input logic rst,  // synchronous reset
    input logic [47:0] cycle,  // absolute index of the coming edge
    input logic [7:0] cfg_delay,  // characters in each cable
    input link_settings_t cfg,  // of both ends
    input logic [1:0] beat_due,  // the coming slot of {b, a} belongs to BEAT
    input logic [1:0] refresh_due,  // STOP is repeated now while in force
    input logic [1:0] s_valid,  // packet streams into {b, a}
    output logic [1:0] s_ready,  // accepted at the coming edge
    input logic [1:0] s_tail,  // this beat is the GAP
    input logic [15:0] s_data,  // byte
    output logic [1:0] m_valid,  // packet streams out of {b, a}
    input logic [1:0] m_ready,  // accepted at the coming edge
    output logic [1:0] m_tail,  // this beat is the GAP
    output logic [15:0] m_data,  // byte
    output logic [17:0] tx,  // the wires, before the cables
    output logic [1:0] stopped,  // the peer's STOP is in force
    output logic [1:0] stopping,  // STOP in force at the receiver
    output logic [15:0] fill,  // characters in the slack buffers
    output logic [1:0] ev_overflow,  // strobes: a character was lost
    output logic [1:0] ev_illegal,  // strobes: unknown control character
    output logic [1:0] ev_forward_reset,  // strobes: the packet being sent was cut
    output logic [1:0] ev_short_timeout,  // strobes: GO assumed
    output logic busy  // 1 = a further clock edge is needed
);
  logic [17:0] rx;
  logic [1:0] stop_lasts, rx_busy, tx_busy, cable_busy;

  assign busy = (rx_busy | tx_busy | cable_busy) != 2'd0;
  for (genvar i = 0; i < 2; i++) begin : gen_end
    logic got_stop, got_go, got_data;
    sleep_t tx_sleep;
    assign tx_busy[i] = tx_sleep.busy;
    myri_link_rx #(
        .LANES(1),
        .SLACK_LOG2(SLACK_LOG2)
    ) u_rx (
        .rx_clk(clk),
        .rst(rst),
        .rx(rx[9*i+:9]),
        .cfg(cfg),
        .m_valid(m_valid[i]),
        .m_ready(m_ready[i]),
        .m_tail(m_tail[i]),
        .m_data(m_data[8*i+:8]),
        .got_stop(got_stop),
        .got_go(got_go),
        .got_data(got_data),
        .got_beat(),
        .stopping(stopping[i]),
        .fill(fill[8*i+:8]),
        .ev_overflow(ev_overflow[i]),
        .ev_illegal(ev_illegal[i]),
        .rx_needed(),
        .busy(rx_busy[i])
    );
    myri_link_tx #(
        .LANES(1)
    ) u_tx (
        .clk(clk),
        .tx_clk(clk),
        .rst(rst),
        .cycle(cycle),
        .cfg(cfg),
        .beat_due(beat_due[i]),
        .refresh_due(refresh_due[i]),
        .stopping(stopping[i]),
        .got_stop(got_stop),
        .got_go(got_go),
        .got_data(got_data),
        .stop_lasts(stop_lasts[i]),
        .s_valid(s_valid[i]),
        .s_ready(s_ready[i]),
        .s_tail(s_tail[i]),
        .s_data(s_data[8*i+:8]),
        .tx(tx[9*i+:9]),
        .stopped(stopped[i]),
        .ev_forward_reset(ev_forward_reset[i]),
        .ev_short_timeout(ev_short_timeout[i]),
        .tx_needed(),
        .sleep(tx_sleep)
    );
    myri_cable #(
        .MAX_LOG2(MAX_LOG2)
    ) u_cable (
        .clk(clk),
        .rst(rst),
        .in(tx[9*i+:9]),
        .cfg_delay(cfg_delay),
        .out(rx[9*(1-i)+:9]),
        .busy(cable_busy[i]),
        .flying(),
        .delayed()
    );
    sim_lasting u_lasting (
        .clk(clk),
        .rst(rst),
        .character(rx[9*i+:9]),
        .stop_lasts(stop_lasts[i])
    );
  end
endmodule
