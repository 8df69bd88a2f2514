// Continuity monitor: BEAT received, BEAT missed, link down.
//
// A BEAT fixes when the next one is due. A peer that sleeps sends none, so only a slot in which
// the peer was certainly awake counts: the character in it, or the one before it, is not IDLE
// (a sender that has sent a character always has one more edge, and BEAT has priority). An
// uncertain slot disarms the monitor until the next BEAT. Three certain misses in a row: down.
// A wire that is silent for ever looks like a peer asleep and is not reported.
module myri_link_beat (
    input  logic        clk,              // character clock
    input  logic        rst,              // synchronous reset
    input  logic [47:0] cycle,            // absolute index of the coming edge
    input  logic [31:0] cfg_beat_period,  // characters between BEATs; 0 = off
    input  logic        got_beat,         // BEAT is on the wire
    input  logic        rx_idle,          // IDLE is on the wire
    output logic        beat_seen,        // a BEAT was received since reset
    output logic        beat_missed,      // the last BEAT that was certainly due did not come
    output logic        link_down,        // three in a row did not come
    output logic        busy              // another edge is needed
);
  logic        armed;
  logic        last_idle;
  logic        certain;
  logic [ 1:0] misses;
  logic [47:0] slot_at;

  assign certain = cycle == slot_at && !(rx_idle && last_idle);
  assign link_down = misses == 2'd3;
  assign busy = !last_idle;

  always_ff @(posedge clk) begin
    if (rst) begin
      armed <= 1'b0;
      last_idle <= 1'b1;
      beat_seen <= 1'b0;
      beat_missed <= 1'b0;
      misses <= 2'd0;
      slot_at <= 48'd0;
    end else begin
      last_idle <= rx_idle;
      if (got_beat) begin
        beat_seen <= 1'b1;
        beat_missed <= 1'b0;
        misses <= 2'd0;
        armed <= cfg_beat_period != 32'd0;
        slot_at <= cycle + {16'd0, cfg_beat_period};
      end else if (armed && cycle >= slot_at) begin
        armed   <= certain;
        slot_at <= slot_at + {16'd0, cfg_beat_period};
        if (certain) begin
          beat_missed <= 1'b1;
          if (!link_down) misses <= misses + 2'd1;
        end
      end
    end
  end
endmodule
