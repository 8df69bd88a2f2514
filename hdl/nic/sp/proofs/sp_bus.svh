// While `busy` is 0, no register changes, and no engine is granted the bus. No other property of the block is proved.
// prove: induction 2
// mutants: enables
initial assume (rst);
always @(posedge clk)
  if (!$initstate && !$past(rst) && !rst) begin
    assert (busy || !open);
    if (!$past(busy)) assert ($stable(held_q) && $stable(cpu_turn_q));
    cover (!busy && cpu_turn_q);
  end
