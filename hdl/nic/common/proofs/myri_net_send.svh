// While `busy` is 0, no register changes. No other property of the block is proved. Assumed: a grant requires a
// request.
// prove: induction 2
// mutants: enables
initial assume (rst);
always_comb if (!sram.req) assume (!sram_gnt);
always @(posedge clk)
  if (!$initstate && !$past(rst) && !rst && !$past(busy)) begin
    assert ($stable(active_q) && $stable(kind_tail_q) && $stable(fresh_q) && $stable(open_q));
    assert ($stable(held_q) && $stable(smp) && $stable(limit) && $stable(sa));
    assert ($stable(word_q) && $stable(word_first_q) && $stable(word_last_q) && $stable(word_tail_q));
    assert ($stable(bytes_q) && $stable(start_q) && $stable(start_at_q) && $stable(known));
  end
always @(posedge clk) cover (!$initstate && !rst && !busy && held_q && active_q);
