// While `busy` is 0, no register changes. No other property of the block is proved. The line is a `myri_ram`, whose
// strobes are `busy`.
// prove: induction 2 MAX_LOG2=2
// mutants: enables
initial assume (rst);
always @(posedge clk)
  if (!$initstate && !$past(rst) && !rst && !$past(busy)) begin
    assert ($stable(place_q) && $stable(last_q) && $stable(wrapped_q));
    assert ($stable(left_q) && $stable(delayed) && $stable(leaving) && $stable(blank_q));
  end
always @(posedge clk) cover (!$initstate && !rst && !busy && last_q != '0);
always @(posedge clk) cover (!$initstate && !rst && !busy && cfg_delay == '0 && in != last_q);
