// While `busy` is 0, no register changes. No other property of the block is proved.
// prove: induction 2
// mutants: enables
initial assume (rst);
always @(posedge clk)
  if (!$initstate && !$past(rst) && !rst && !$past(busy)) begin
    assert ($stable(bar_base) && $stable(mem_enable) && $stable(master_enable));
    assert ($stable(latency_timer) && $stable(cache_line_q) && $stable(interrupt_line));
  end
always @(posedge clk) cover (!$initstate && !rst && !busy && latency_timer != 8'd0);
