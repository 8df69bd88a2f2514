// While `busy` is 0 nothing changes here, nothing is asked of the memory, and no part needs the edge: no other property of
// the block.
// prove: induction 2
// mutants: enables
initial assume (rst);
always @(posedge clk)
  if (!$initstate && !$past(rst) && !rst) begin
    assert (busy || !(target_busy || serving));
    if (!$past(busy)) assert ($stable(td_valid_q));
    cover (!busy);
  end
