// While `busy` is 0 and no word arrives, no register changes but `index_q`, which every edge in IDLE sets to 0,
// including the edge that accepts the word. No other property of the block is proved. Assumed: read data arrive only
// when awaited.
// prove: induction 2
// mutants: enables
initial assume (rst);
always_comb if (mem_rvalid) assume (state_q == DATA);
always @(posedge clk)
  if (!$initstate && !$past(rst) && !rst) begin
    if (!$past(busy || in_valid)) begin
      assert ($stable(state_q) && $stable(word_q) && $stable(left_q) && $stable(last_q));
      assert ($stable(value_q));
    end
    if ($past(ce && state_q == IDLE)) assert (index_q == '0);
    if (state_q != IDLE && $past(state_q == IDLE)) assert ($past(ce));
    cover (!busy && value_q != '0);
  end
