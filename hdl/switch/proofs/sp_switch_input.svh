// While `busy` is 0, no register changes. No other property of the block is proved.
// prove: induction 2
// mutants: enables
// unseen: `&&` -> `||` in `assign busy = (m_valid && m_ready) || load || fire || falling_q || tr_head;`: a clock that runs longer changes no result
initial assume (rst);
always @(posedge clk)
  if (!$initstate && !$past(rst) && !rst && !$past(busy)) begin
    assert ($stable(diff_q) && $stable(port) && $stable(tr_head) && $stable(tr_key));
    assert ($stable(in_body_q) && $stable(dropping_q) && $stable(held_q) && $stable(held_tail_q));
    assert ($stable(held_byte_q) && $stable(falling_q) && $stable(fall_left_q) && $stable(place_q));
  end
always @(posedge clk) cover (!$initstate && !rst && !busy);
