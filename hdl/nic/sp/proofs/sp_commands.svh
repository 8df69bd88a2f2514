// While `busy` is 0, no register changes. No other property of the block is proved.
// prove: induction 2
// mutants: enables
initial assume (rst);
always @(posedge clk)
  if (!$initstate && !$past(rst) && !rst && !$past(busy)) begin
    assert ($stable(word_at_q) && $stable(moving_q) && $stable(at_q) && $stable(stores_q));
    assert ($stable(bytes_now_q));
  end
always @(posedge clk) cover (!$initstate && !rst && !busy);
