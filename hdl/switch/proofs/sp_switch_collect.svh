// While `busy` is 0, no register changes. No other property of the block is proved.
// prove: induction 2
// mutants: enables
initial assume (rst);
always @(posedge clk)
  if (!$initstate && !$past(rst) && !rst && !$past(busy)) begin
    assert ($stable(count_q) && $stable(bytes_q) && $stable(c_valid) && $stable(c_chunk) && $stable(c_port));
  end
always @(posedge clk) cover (!$initstate && !rst && !busy && c_valid);
