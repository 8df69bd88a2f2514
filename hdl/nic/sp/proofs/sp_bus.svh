// While `busy` is 0 nothing changes, and no engine takes its turn: no other property of the block.
// prove: induction 2
// mutants: enables
initial assume (rst);
always @(posedge clk)
  if (!$initstate && !$past(rst) && !rst) begin
    assert (busy || !open);
    if (!$past(busy)) assert ($stable(held_q) && $stable(cpu_turn_q));
    cover (!busy && cpu_turn_q);
  end
