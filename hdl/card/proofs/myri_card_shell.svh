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
      assert ($stable(begun_q) && $stable(dropped_q) && $stable(resume_q) && $stable(slot_q) && $stable(arguments_q));
      assert ($stable(owner_q) && $stable(total_q) && $stable(parted_q) && $stable(offset_q));
      assert ($stable(held_images_q) && $stable(out_free_q));
      assert ($stable(images) && $stable(run) && $stable(paused) && $stable(turn) && $stable(front));
      assert ($stable(r_valid) && $stable(ended) && $stable(finished) && $stable(slot_bytes));
    end
    assert (state_q == HEAD || state_q == DECIDE || index_q == '0);
    assert (state_q == OWN || state_q == HEAD || state_q == GIVE || state_q == DRAIN || state_q == YIELD || waited_q == '0);
    if (interrupted) assert (state_q == SETTLE || state_q == ROUTE || state_q == WRITE || state_q == SEND ||
      state_q == PART || state_q == OWN || state_q == YIELD || state_q == OPEN);
    if (state_q == IDLE) assert (!r_valid);
    if (state_q == IDLE && !begun_q) assert (!r_valid && !ended && !finished && slot_bytes == 24'd40);
  end
