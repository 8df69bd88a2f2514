// While `busy` is 0, no register changes, and the outputs of its parts are stable. No other property of the block is
// proved. An arbitrary header word, `at`, is followed.
// prove: induction 2
// mutants: enables
(* anyconst *) logic [2:0] at;
logic [31:0] kept;
assign kept = words[at];
initial assume (rst);
always @(posedge clk)
  if (!$initstate && !rst) begin
    if (!$past(rst) && !$past(busy)) begin
      assert ($stable(kept) && $stable(state_q) && $stable(divided_q) && $stable(index_q));
      assert ($stable(left_q) && $stable(waited_q) && $stable(purpose_q) && $stable(held_q));
      assert ($stable(held_image_q) && $stable(out_free_q));
      assert ($stable(image) && $stable(run) && $stable(paused) && $stable(turn) && $stable(front));
      assert ($stable(r_valid) && $stable(ended) && $stable(finished) && $stable(slot_bytes));
    end
    assert (state_q == HEAD || state_q == DECIDE || index_q == '0);
    assert (state_q == OWN || state_q == HEAD || state_q == YIELD || waited_q == '0);
    if (state_q == IDLE) assert (!r_valid && !ended && !finished && slot_bytes == 24'd40);
  end
