// While `busy` is 0, no message finishes, the control mailbox is empty and no slot changes (the shell keeps its clock
// running for all three), no register changes. No other property of the block is proved.
// prove: induction 2
// mutants: enables
initial assume (rst);
always @(posedge clk)
  if (!$initstate && !$past(rst) && !rst && !$past(busy || taken || given || mail_taken || changed)) begin
    assert ($stable(paused) && $stable(answer_q) && $stable(messages_q) && $stable(results_q));
    assert ($stable(refusals_q) && $stable(news_q) && $stable(run_told_q));
  end
always @(posedge clk) cover (!$initstate && !rst && !busy && messages_q != '0);
