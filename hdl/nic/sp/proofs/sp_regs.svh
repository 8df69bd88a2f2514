// While `busy` is 0 nothing changes: no other property of the block.
// prove: induction 2
// mutants: enables
initial assume (rst);
always @(posedge clk)
  if (!$initstate && !$past(rst) && !rst && !$past(busy)) begin
    assert ($stable(alarm) && $stable(irq) && $stable(high_q) && $stable(errors_q));
    assert ($stable(fetched_q) && $stable(stored_q) && $stable(sent_q) && $stable(due_q));
    assert ($stable(read_q));
  end
always @(posedge clk) cover (!$initstate && !rst && !busy);
