// While `busy` is 0, no register changes, and no word is passed to the read buffer, which has the same clock. No other
// property of the block is proved.
// prove: induction 2
// mutants: enables
// unseen: `&&` (1) -> `||` in `assign busy = (idle && in_valid) || begin_move || (cmd_valid && cmd_ready) || (rd_valid && rd_ready) ||`: a clock that runs longer changes no result
// unseen: `&&` (2) -> `||` in `assign busy = (idle && in_valid) || begin_move || (cmd_valid && cmd_ready) || (rd_valid && rd_ready) ||`: a clock that runs longer changes no result
// unseen: `&&` (3) -> `||` in `assign busy = (idle && in_valid) || begin_move || (cmd_valid && cmd_ready) || (rd_valid && rd_ready) ||`: a clock that runs longer changes no result
// unseen: `&&` -> `||` in `assign set_alarm = complete && rings_q;`: an interrupt of the card, unrelated to the clock
initial assume (rst);
always @(posedge clk)
  if (!$initstate && !$past(rst) && !rst && !$past(busy)) begin
    assert ($stable(fetch_q) && $stable(state_q) && $stable(bytes_q) && $stable(address_q));
    assert ($stable(start_at_q) && $stable(ended_q) && $stable(failed_q) && $stable(fetches_q));
    assert ($stable(stores_q) && $stable(read_q) && $stable(rings_q));
  end
always @(posedge clk) if (!$initstate && !rst && !busy) assert (!read_start && !read_valid);
always @(posedge clk) cover (!$initstate && !rst && !busy);
