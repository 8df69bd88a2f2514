// While `busy` is 0, no register changes. No other property of the block is proved.
// prove: induction 2
// mutants: enables
initial assume (rst);
always @(posedge clk)
  if (!$initstate && !$past(rst) && !rst && !$past(busy)) begin
    assert ($stable(next_q) && $stable(waiting_q) && $stable(sending_q) && $stable(last_q));
    assert ($stable(left_q) && $stable(bytes_q));
  end
always @(posedge clk) cover (!$initstate && !rst && !busy);
