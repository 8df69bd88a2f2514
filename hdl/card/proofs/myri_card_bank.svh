// While `busy` is 0 and no access of the bus side is pending, no register changes on the bus side. (A client keeps the
// clock running while an access is pending, and one clock longer after one that was not served.) A crossing that needs
// an edge gets it, on both sides. The other clock is not modelled: any state may be the first. No other property of the
// block is proved.
// prove: induction 2
// mutants: enables
logic waits;  // an access was not done at the last edge
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
