// While `w_busy` is 0 nothing changes on the source side; an event comes out only while `r_busy` is 1; a crossing that needs
// an edge has it: no other property of the block. What the other clock does is not looked at: any state may be the first
// one.
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
