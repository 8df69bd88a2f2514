// While `busy` is 0 and no read of the target is pending (the target keeps the clock running for its own reads), no
// register changes, and no part needs the edge. No other property of the block is proved. Assumed: a write is stable
// until it is accepted. Assumed of myri_card_local, where it is proved: a read is accepted only when offered, and its
// data arrive two clocks later.
// prove: induction 2
// mutants: enables
logic stays;  // a write was not accepted at the last edge
logic [39:0] same;
logic soon, now;  // read data arrive in the next clock; in this clock
always @(posedge clk) begin
  stays <= !rst && tw_valid && !tw_ready;
  same  <= {tw.addr, tw.be};
  {now, soon} <= rst ? 2'd0 : {soon, bank_tread_ready};
end
initial assume (rst);
always_comb begin
  if (stays) assume (tw_valid && {tw.addr, tw.be} == same);
  if (!tread_valid || !r_bank || reg_r_done || bank_due_q == 2'd3) assume (!bank_tread_ready);
  assume (bank_td_valid == now);
end
always @(posedge clk)
  if (!$initstate && !rst) begin
    assert (busy || !(in_flight || registers_busy || config_busy));
    assert (bank_due_q == 2'(soon) + 2'(now));
    if (mailbox_waited_q != '0 || ev_mailbox) assert (stays && registers_busy);
    if (!$past(rst || busy || tread_valid || bank_due_q != '0))
      assert ($stable(bank_due_q) && $stable(mailbox_waited_q) && $stable(ev_mailbox));
    cover (!busy && bank_due_q != '0);
  end
