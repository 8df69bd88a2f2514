// Sending half of LANES link ports: one character per edge, control characters between data characters.
//
// Priority in a character slot: BEAT, STOP or GO of the local receiver, the GAP of a forward reset, the packet stream.
// The peer's STOP holds back the characters that would enter its slack buffer: the stream and that GAP.
// Timing: a beat accepted from the stream is on `tx` directly after that edge. The clock of a blocked sender may stop:
// its time-outs are deadlines (`sleep.alarm`), not counters. The ports are bits of masks: a switch costs little more
// to simulate than one port.
module myri_link_tx
  import myri_sleep_pkg::*;
  import myri_settings_pkg::*;
  import myri_symbol_pkg::*;
#(
    parameter int LANES = 1  // ports
) (
    input logic clk,  // character clock
    input logic [LANES-1:0] tx_clk,  // clock of each port, see myri_link_core
    input logic rst,  // synchronous reset
    input logic [47:0] cycle,  // absolute index of the coming edge
    input link_settings_t cfg,  // configuration of the ports
    input logic beat_due,  // the coming slot belongs to BEAT
    input logic refresh_due,  // STOP is repeated now while in force
    input logic [LANES-1:0] stopping,  // STOP is in force at the local receiver
    input logic [LANES-1:0] got_stop,  // the peer's STOP is being received
    input logic [LANES-1:0] got_go,  // the peer's GO is being received
    input logic [LANES-1:0] got_data,  // the peer's data are being received
    input logic [LANES-1:0] stop_lasts,  // the peer's STOP is in force without refreshes, see myri_link_core
    input logic [LANES-1:0] s_valid,  // packet stream to the wire
    output logic [LANES-1:0] s_ready,  // accepted at the coming edge (does not depend on s_valid)
    input logic [LANES-1:0] s_tail,  // this beat is the GAP
    input logic [8*LANES-1:0] s_data,  // the byte; ignored with s_tail
    output logic [9*LANES-1:0] tx,  // {data flag, byte} to the cable, registered
    output logic [LANES-1:0] stopped,  // the peer's STOP is in force
    output logic [LANES-1:0] ev_forward_reset,  // strobe: the packet was blocked too long and is cut
    output logic [LANES-1:0] ev_short_timeout,  // strobe: STOP not refreshed, GO assumed
    output logic [LANES-1:0] tx_needed,  // 1 = the coming edge of tx_clk is needed
    output sleep_t sleep  // when clk must run
);
  logic [   LANES-1:0] live_q;  // the character on the wire is not IDLE
  logic [   LANES-1:0] in_packet_q;  // characters were sent, the GAP was not
  logic [   LANES-1:0] cut_q;  // the GAP of a forward reset is still to be sent
  logic [   LANES-1:0] closed_q;  // stopped | cut_q, as one register: `s_ready` is early in a clock
  logic [   LANES-1:0] discarding_q;  // the rest of a cut packet is discarded
  logic [   LANES-1:0] refresh_wait_q;  // a refresh lost its slot to BEAT
  logic [   LANES-1:0] announced_q;  // the peer was sent STOP, and no GO since
  logic [   LANES-1:0] lasts_last_q;  // stop_lasts at the last edge
  logic [   LANES-1:0] blocked;  // a packet is being sent or waiting, and is blocked
  logic [   LANES-1:0] blocked_last_q;  // blocked at the last edge
  logic [   LANES-1:0] short_running;  // stop_deadline counts
  logic [   LANES-1:0] long_running;  // block_deadline counts
  logic [   LANES-1:0] refresh;  // STOP is to be repeated
  logic [   LANES-1:0] stopped_next;  // `stopped` after the coming edge
  logic [   LANES-1:0] cut_next;  // cut_q after the coming edge
  logic [   LANES-1:0] slot_flow;  // the slot is used for STOP or GO
  logic [   LANES-1:0] may_cut;  // the GAP of a forward reset may go out
  logic [   LANES-1:0] fire;  // a beat is accepted
  logic [   LANES-1:0] send;  // and is sent
  logic                busy;
  logic                counting;  // some deadline counts
  logic [        47:0] first;  // the earliest deadline
  logic [   LANES-1:0] stop_heard;  // STOP is, or begins to be computed
  logic [   LANES-1:0] blocks;  // it did not at the last edge
  logic [48*LANES-1:0] stop_deadline_q;  // STOP must be refreshed before
  logic [48*LANES-1:0] block_deadline_q;  // a blocked packet must move before

  // A blocked peer whose STOP lasts knows the state of this receiver and needs no refresh unless it sends nevertheless.
  // Otherwise two blocked ends would wake each other with refreshes for ever.
  always_comb begin : refreshing
    logic [LANES-1:0] again;
    again = '0;
    if (refresh_due) begin
      for (int i = 0; i < LANES; i++)
      if (stopping[i] && (!stop_lasts[i] || got_data[i])) again[i] = 1'b1;
    end
    refresh = again;
  end
  assign slot_flow = (stopping ^ announced_q) | refresh | (stopping & refresh_wait_q);
  assign s_ready = discarding_q | (beat_due ? '0 : ~(slot_flow | closed_q));
  assign may_cut = cut_q & ~stopped;
  assign fire = s_valid & s_ready;
  assign send = fire & ~discarding_q;

  // Blocked: STOP holds back a packet, or the stream supplies no characters of a packet being sent.
  assign blocked = ~discarding_q & ((stopped & s_valid) | (in_packet_q & (stopped | ~s_valid)));
  assign short_running = (cfg.short_timeout == 16'd0) ? '0 : stopped & ~(stop_lasts | lasts_last_q);
  assign long_running = (cfg.long_timeout == 32'd0) ? '0 : blocked & blocked_last_q;

  assign tx_needed = live_q | fire | slot_flow | may_cut | {LANES{beat_due}};
  assign busy = (live_q | fire | (blocked ^ blocked_last_q) | (stop_lasts ^ lasts_last_q) | (stopping ^ announced_q) |
      refresh_wait_q | may_cut | (s_valid & ~stopped)) != '0;
  assign sleep = {1'b1, busy, busy, counting, first};

  // Time-outs, and the edge of the earliest. Deadlines are evaluated only while one counts.
  assign counting = (short_running | long_running) != '0;
  always_comb begin : deadlines
    logic [LANES-1:0] unheard, stuck;
    logic [47:0] of_short, of_long;  // two rows of comparisons side by side: half as deep as one
    unheard  = '0;
    stuck    = '0;
    of_short = '1;
    of_long  = '1;
    if (EVALUATE_ALWAYS || counting) begin
      for (int i = 0; i < LANES; i++) begin
        if (short_running[i]) begin
          unheard[i] = cycle >= stop_deadline_q[48*i+:48] && !got_stop[i];
          if (stop_deadline_q[48*i+:48] < of_short) of_short = stop_deadline_q[48*i+:48];
        end
        if (long_running[i]) begin
          stuck[i] = cycle >= block_deadline_q[48*i+:48];
          if (block_deadline_q[48*i+:48] < of_long) of_long = block_deadline_q[48*i+:48];
        end
      end
    end
    ev_short_timeout = unheard;
    ev_forward_reset = stuck;
    first = of_short < of_long ? of_short : of_long;
  end

  assign stopped_next = got_stop | (stopped & ~(got_go | ev_short_timeout));
  assign cut_next = (cut_q & (slot_flow | stopped | {LANES{beat_due}})) | (ev_forward_reset & in_packet_q);

  // State of the packet being sent.
  always_ff @(posedge clk) begin
    if (rst) begin
      live_q       <= '0;
      in_packet_q  <= '0;
      cut_q        <= '0;
      closed_q     <= '0;
      discarding_q <= '0;
    end else begin
      live_q <= send | slot_flow | may_cut | {LANES{beat_due}};
      in_packet_q <= ((in_packet_q & ~send) | (send & ~s_tail)) & ~ev_forward_reset;
      cut_q <= cut_next;
      closed_q <= stopped_next | cut_next;
      discarding_q <= (discarding_q & ~(fire & s_tail)) | ev_forward_reset;
    end
  end

  // Flow control of this receiver and of the peer.
  always_ff @(posedge clk) begin
    if (rst) begin
      announced_q <= '0;
      refresh_wait_q <= '0;
      stopped <= '0;
      lasts_last_q <= '0;
      blocked_last_q <= '0;
    end else begin
      refresh_wait_q <= beat_due ? stopping & announced_q & (refresh | refresh_wait_q) : '0;
      if (!beat_due) announced_q <= stopping;
      stopped <= stopped_next;
      lasts_last_q <= stop_lasts;
      blocked_last_q <= blocked & ~ev_forward_reset;
    end
  end

  // Deadlines, set when a time-out begins to count.
  assign stop_heard = got_stop | (lasts_last_q & ~stop_lasts);
  assign blocks = blocked & ~blocked_last_q;
  always_ff @(posedge clk) begin
    if (rst) begin
      stop_deadline_q  <= '0;
      block_deadline_q <= '0;
    end else begin
      if (EVALUATE_ALWAYS || stop_heard != '0) begin
        for (int i = 0; i < LANES; i++)
        if (stop_heard[i]) stop_deadline_q[48*i+:48] <= cycle + {32'd0, cfg.short_timeout};
      end
      if (EVALUATE_ALWAYS || blocks != '0) begin
        for (int i = 0; i < LANES; i++)
        if (blocks[i]) block_deadline_q[48*i+:48] <= cycle + {16'd0, cfg.long_timeout};
      end
    end
  end

  for (genvar i = 0; i < LANES; i++) begin : gen_lane
    logic own_clk;
    assign own_clk = tx_clk[i];
    logic [8:0] char_q;

    assign tx[9*i+:9] = char_q;

    // Next character on the wire.
    always_ff @(posedge own_clk) begin
      if (rst) char_q <= IDLE;
      else if (send[i]) char_q <= s_tail[i] ? GAP : {1'b1, s_data[8*i+:8]};
      else if (beat_due) char_q <= BEAT;
      else if (slot_flow[i]) char_q <= stopping[i] ? STOP : GO;
      else char_q <= may_cut[i] ? GAP : IDLE;
    end
  end
endmodule
