// While `w_busy` is 0, no register changes on the source side. An event is output only while `r_busy` is 1. A crossing
// that needs an edge gets it. No other property of the block is proved. The other clock is not modelled: any state may
// be the first.
// prove: induction 2
// mutants: enables
logic known_w;  // as in the clock before
initial assume (w_rst && r_rst);
always @(posedge w_clk) known_w <= !w_rst;
always @(posedge w_clk)
  if (!$initstate && known_w && !w_rst) begin
    assert (w_busy || !cross_busy);
    if (!$past(w_busy)) assert ($stable(pending_q));
    cover (!w_busy && pending_q != '0);
  end
always @(posedge r_clk) if (!$initstate && !r_rst) assert (r_busy || r_event == '0);
