// While `busy` is 0, no register changes. No other property of the block is proved.
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
