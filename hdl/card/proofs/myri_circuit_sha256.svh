// While `busy` is 0 and no word arrives, no register changes but `work_q`, which loads the chaining value until the
// first round begins. No other property of the block is proved.
// prove: induction 2
// mutants: enables
initial assume (rst);
always @(posedge clk)
  if (!$initstate && !rst) begin
    if (!$past(rst) && !$past(busy || in_valid)) begin
      assert ($stable(state_q) && $stable(schedule_q) && $stable(chain_q) && $stable(words_q));
      assert ($stable(round_q) && $stable(length_q) && $stable(ended_q) && $stable(marked_q));
      assert ($stable(final_block_q) && $stable(given_q));
    end
    assert (state_q == ROUND || round_q == '0);
    if (state_q == ROUND && round_q == '0) assert (work_q == chain_q);
    cover (!busy && words_q != '0);
  end
