// While `busy` is 0 nothing changes but `seen_q`, `pointed_q` and `pause_q`, which each edge of IDLE sets, that which begins a job
// too: no other property of the block. Assumed: no command is over where none is open.
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
    end
    if (!$past(rst) && $past(state_q == IDLE)) assert (!seen_q && !pointed_q && pause_q == $past(cfg_pause));
    if (state_q != COPYING && state_q != POINT) assert (asked_q == 24'd8);
    assert (busy || !hold_busy);
    cover (!busy && $past(!busy));
  end
