// While `s_busy` or `m_busy` is 0, no register changes on that side but `quiet_q`, which every edge without an open
// burst sets to 0, including the edge that begins a burst. A crossing that needs an edge gets it. No other property of
// the block is proved. The other clock is not modelled: any state may be the first.
// prove: induction 2 CHUNK=4 QUIET=2
// mutants: enables
logic known_s, known_m;  // no reset in the clock before
initial assume (s_rst && m_rst);
always @(posedge s_clk) known_s <= !s_rst;
always @(posedge m_clk) known_m <= !m_rst;
always @(posedge s_clk)
  if (!$initstate && known_s && !s_rst) begin
    assert (s_busy || s_side == '0);
    if (!$past(s_busy)) begin
      assert ($stable(open_q) && $stable(straight_q) && $stable(from_q) && $stable(next_q));
      assert ($stable(bytes_q) && $stable(beats_q) && $stable(opened) && $stable(fresh_q));
      assert ($stable(dropping_q) && $stable(ahead_q) && $stable(waiting_q) && $stable(expected_q));
      assert ($past(!open_q) || $stable(quiet_q));
    end
    if ($past(!open_q && quiet_q != 3'(QUIET - 1))) assert (quiet_q == '0);
    cover (!s_busy && ahead_q != '0);
  end
always @(posedge m_clk)
  if (!$initstate && known_m && !m_rst) begin
    assert (m_busy || m_side == '0);
    if (!$past(m_busy)) begin
      assert ($stable(running_q) && $stable(writing_q) && $stable(over_q) && $stable(left_q));
      assert ($stable(done));
    end
  end
