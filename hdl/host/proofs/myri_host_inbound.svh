// While `needed` is 0, no register changes but the fraction of a drained beat, which is cleared while the buffer is
// empty, at the latest in the clock in which a write arrives. No other property of the block is proved.
// prove: induction 2 DEPTH_LOG2=2
// mutants: enables
initial assume (rst);
always @(posedge clk)
  if (!$initstate && !$past(rst) && !rst) begin
    if (!$past(needed)) begin
      assert ($past(!f_valid) || $stable(share_q));
      assert ($stable(waited_q) && $stable(td_valid) && $stable(level));
    end
    if ($past(!f_valid)) assert (share_q == '0);
    if ($past(!f_valid) && f_valid) assert ($past(needed));
    assert (needed || !f_busy);
    cover (!needed && $past(needed));
  end
