// While `busy` is 0, no register changes, no access of the memory is requested, and no part needs the edge. No other
// property of the block is proved.
// prove: induction 2
// mutants: enables
initial assume (rst);
always @(posedge clk)
  if (!$initstate && !$past(rst) && !rst) begin
    assert (busy || !(target_busy || serving));
    if (!$past(busy)) assert ($stable(td_valid_q));
    cover (!busy);
  end
