// While `busy` is 0 and no access of the bus side is open (who has one keeps the clock going, also in the clock after one that
// was not served) nothing changes on the bus side; a crossing that needs an edge has it, on both sides: no other
// property of the block. What the other clock does is not looked at: any state may be the first one.
// prove: induction 2
// mutants: enables
logic waits;  // an access was not served at the last edge
always @(posedge clk) waits <= !rst && access && !host_owns;
initial assume (rst);
always @(posedge clk)
  if (!$initstate && !rst) begin
    assert ((busy || !(want_busy || grant_busy)) && (f_busy || !(f_want_busy || f_grant_busy)));
    if (!$past(rst || busy || access)) assert ($stable(grant_q) && $stable(linger_q));
    if (!$past(rst || busy || access || waits)) assert ($stable(waited_q) && $stable(ev_patience));
    if (!waits) assert (waited_q == '0 && !ev_patience);
    cover (!busy && grant_q && !hold);
    cover (!busy && !grant_q && !hold);
  end
