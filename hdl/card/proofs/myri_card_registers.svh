// While `busy` is 0, no register changes. No other property of the block is proved.
// prove: induction 2
// mutants: enables
initial assume (rst);
always @(posedge clk)
  if (!$initstate && !$past(rst) && !rst && !$past(busy)) begin
    assert ($stable(upper_q) && $stable(hold) && $stable(nic_queue) && $stable(nic_limit));
    assert ($stable(nic_back) && $stable(nic_front) && $stable(nic_read0) && $stable(nic_read1));
    assert ($stable(dma_source) && $stable(dma_target) && $stable(dma_bytes) && $stable(dma_start));
    assert ($stable(run_q) && $stable(mail_q) && $stable(images_q));
    assert ($stable(messages_q) && $stable(results_q) && $stable(refused_q));
    assert ($stable(mail_there_q) && $stable(control_full_q) && $stable(r_done) && $stable(r_data));
  end
always @(posedge clk) cover (!$initstate && !rst && !busy && images_q != '0);
