// While `busy` is 0, no register changes but `seen_q`, `pointed_q` and `pause_q`, which every edge in IDLE sets,
// including the edge that begins a job. No other property of the block is proved. Assumed: a command finishes only if
// one is open.
// prove: induction 2
// mutants: enables
initial assume (rst);
always_comb if (state_q == IDLE) assume (!m_done);
always @(posedge clk)
  if (!$initstate && !rst) begin
    if (!$past(rst) && !$past(busy)) begin
      assert ($stable(state_q) && $stable(over_q) && $stable(front_q) && $stable(back_q));
      assert ($stable(asked_q) && $stable(due_q) && $stable(left_q) && $stable(at_q));
      assert ($stable(first_q) && $stable(got_q) && $stable(dma_active));
      assert ($stable(from_q) && $stable(rest_q) && $stable(job_turn_q));
    end
    if (!$past(rst) && $past(state_q == IDLE)) assert (!seen_q && !pointed_q && pause_q == $past(cfg_pause));
    if (state_q != COPYING && state_q != POINT) assert (asked_q == 24'd8);
    assert (busy || !hold_busy);
    cover (!busy && $past(!busy));
  end
