// While `needed` is 0 and no data phase moves data or ends the transaction (the target keeps the clock running for
// these), no register changes. `busy` is 1 as long as a write is pending. No other property of the block is proved. The
// entry at an arbitrary `place` is followed.
// prove: induction 2
// mutants: enables
(* anyconst *) logic [1:0] place;
logic [100:0] kept;
assign kept = mem[place];
initial assume (rst);
always @(posedge clk)
  if (!$initstate && !rst) begin
    assert (busy == (count_q != 3'd0 || p_full_q[0]));
    if (!$past(rst) && !$past(needed || xfer || fin)) begin
      assert ($stable(kept) && $stable(in_q) && $stable(out_q) && $stable(count_q));
      assert ($stable(p_addr_q) && $stable(p_data_q) && $stable(p_be_q) && $stable(p_full_q));
    end
    cover (!needed && count_q != 3'd0 && p_full_q[0]);
  end
