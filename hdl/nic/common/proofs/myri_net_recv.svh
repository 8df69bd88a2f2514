// While `busy` is 0, no register changes but `stored_q` of a dropped packet, which is not read and which every edge
// sets to 0. No other property of the block is proved. Assumed: a grant requires a request.
// prove: induction 2
// mutants: enables
initial assume (rst);
always_comb if (!sram.req) assume (!sram_gnt);
always @(posedge clk)
  if (!$initstate && !$past(rst) && !rst && !$past(busy)) begin
    assert ($stable(armed_q) && $stable(begun_q) && $stable(drop_q));
    assert ($stable(absorb_q) && $stable(waiting_q) && $stable(since_q) && $stable(rmp));
    assert ($stable(rml) && $stable(length) && $stable(last_addr_q) && $stable(key_known));
    assert ($past(dropping) || $stable(stored_q));
  end
always @(posedge clk) if (!$initstate && !rst && $past(dropping)) assert (!stored_q);
always @(posedge clk) cover (!$initstate && !rst && !busy && waiting_q);
