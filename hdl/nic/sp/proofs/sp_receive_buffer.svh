// While `busy` is 0, no register changes but the word of the right engine, which follows `move_next`, and the memory of
// words (`myri_ram`) is not written. No other property of the block is proved. An arbitrary word of a packet's begin,
// `head`, and an arbitrary slot, `slot`, are followed.
// prove: induction 2
// mutants: enables
(* anyconst *) logic [SLOTS_LOG2-1:0] slot;
logic [45:0] noted;
(* anyconst *) logic [SLOTS_LOG2+HEAD-1:0] head;
logic [63:0] first;
assign first = heads[head];
assign noted = {sizes_q[slot], bad_q[slot], keys_q[slot]};
initial assume (rst);
always @(posedge clk)
  if (!$initstate && !$past(rst) && !rst && !$past(busy)) begin
    assert ($stable(first) && $stable(noted) && $stable(fill_q) && $stable(look_q));
    assert ($stable(move_q) && $stable(index_q) && $stable(length_q) && $stable(key_now_q));
    assert ($stable(told_q) && !$past(stores));
  end
always @(posedge clk) cover (!$initstate && !rst && !busy && length_q != '0);
