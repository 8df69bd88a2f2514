// While `needed` is 0 nothing changes, and none of its parts needs the edge: no other property of the block.
// prove: induction 2
// mutants: enables
initial assume (rst);
always @(posedge clk)
  if (!$initstate && !$past(rst) && !rst) begin
    assert (needed || !(c_needed || q_needed || w_needed));
    if (!$past(needed)) assert ($stable(posted_q) && $stable(reading_q) && $stable(wait_left_q));
    cover (!needed && reading_q);
  end
