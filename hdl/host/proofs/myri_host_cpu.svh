// While `needed` is 0, no register changes, and none of its parts needs the edge. No other property of the block is
// proved.
// prove: induction 2
// mutants: enables
initial assume (rst);
always @(posedge clk)
  if (!$initstate && !$past(rst) && !rst) begin
    assert (needed || !(c_needed || q_needed || w_needed));
    if (!$past(needed)) assert ($stable(posted_q) && $stable(reading_q) && $stable(wait_left_q));
    cover (!needed && reading_q);
  end
