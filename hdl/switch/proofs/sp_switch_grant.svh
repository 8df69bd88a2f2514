// While `busy` is 0 and no GAP leaves (the input and the output that it leaves go on for it) nothing changes, and no output takes
// an owner: no other property of the block.
// prove: induction 2 PORTS=4
// mutants: enables
initial assume (rst);
always @(posedge clk)
  if (!$initstate && !$past(rst) && !rst) begin
    if (!busy) assert (taken == '0);
    if (!$past(busy || gap_leaves != '0 || released != '0)) begin
      assert ($stable(crossing) && $stable(queueing) && $stable(direct) && $stable(owner));
      assert ($stable(tr_grant) && $stable(tr_queue));
    end
    cover (!busy && direct != '0);
  end
