// While no edge is needed, no register changes: of a lane without `tx_needed`, its character; without `busy`, the state
// of packets, of STOP and of deadlines, unless a timer is due or the receiver notices the peer (which keeps the clock
// running itself). One lane, so its clock is the link's.
// prove: induction 2 LANES=1
// mutants: enables
// unseen: `&` -> `|` in `refresh_wait_q | may_cut | (s_valid & ~stopped)) != '0;`: a clock that runs longer changes no result
// unseen: `~` -> ` ` in `refresh_wait_q | may_cut | (s_valid & ~stopped)) != '0;`: a clock that runs longer changes no result
initial assume (rst);
always @(posedge clk) if (!$initstate) assert (live_q[0] == (tx != '0));
always @(posedge clk)
  if (!$initstate && !$past(rst) && !rst) begin
    if (!$past(tx_needed[0])) assert ($stable(gen_lane[0].char_q));
    if (!$past(busy) && !$past(sleep.alarm.valid && cycle >= sleep.alarm.cycle) && !$past(beat_due || got_stop[0] || got_go[0])) begin
      assert ($stable(in_packet_q) && $stable(cut_q) && $stable(discarding_q) && $stable(announced_q));
      assert ($stable(stopped) && $stable(refresh_wait_q) && $stable(lasts_last_q) && $stable(blocked_last_q));
      assert ($stable(stop_deadline_q) && $stable(block_deadline_q));
    end
    assert (closed_q == (stopped | cut_q));
    if (tx != '0) assert (busy && tx_needed[0]);
    cover (!busy && stopped[0] && in_packet_q[0]);
  end
