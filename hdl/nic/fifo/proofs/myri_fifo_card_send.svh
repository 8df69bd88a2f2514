// While `busy` is 0, no register changes. No other property of the block is proved. Assumed: a grant requires a
// request.
// prove: induction 2
// mutants: enables
initial assume (rst);
always_comb if (!mem.req) assume (!mem_gnt);
always @(posedge clk)
  if (!$initstate && !$past(rst) && !rst && !$past(busy)) begin
    assert ($stable(state_q) && $stable(fresh_q) && $stable(have_q) && $stable(kept_q));
    assert ($stable(at_q) && $stable(left_q) && $stable(skip_q) && $stable(own_q));
    assert ($stable(header_q) && $stable(bytes_q) && $stable(start_q) && $stable(known));
  end
always @(posedge clk) cover (!$initstate && !rst && !busy && have_q);
always @(posedge clk) cover (!$initstate && !rst && !busy && state_q == IDLE);
