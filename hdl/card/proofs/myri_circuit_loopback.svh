// While `busy` is 0 and no word arrives, no register changes. No other property of the block is proved.
// prove: induction 2
// mutants: enables
initial assume (rst);
always @(posedge clk)
  if (!$initstate && !$past(rst) && !rst && !$past(busy || in_valid))
    assert ($stable(full_q) && $stable(out_last) && $stable(out_bytes) && $stable(out_data));
always @(posedge clk) cover (!$initstate && !rst && !busy && out_bytes != '0);
