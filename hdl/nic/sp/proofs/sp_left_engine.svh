// While `busy` is 0 nothing changes, and nothing is given to the read buffer, which has the same clock: no other property of the
// block.
// prove: induction 2
// mutants: enables
// unseen: `&&` (1) -> `||` in `assign busy = (idle && in_valid) || begin_move || (cmd_valid && cmd_ready) || (rd_valid && rd_ready) ||`: a clock that goes on longer loses nothing
// unseen: `&&` (2) -> `||` in `assign busy = (idle && in_valid) || begin_move || (cmd_valid && cmd_ready) || (rd_valid && rd_ready) ||`: a clock that goes on longer loses nothing
// unseen: `&&` (3) -> `||` in `assign busy = (idle && in_valid) || begin_move || (cmd_valid && cmd_ready) || (rd_valid && rd_ready) ||`: a clock that goes on longer loses nothing
// unseen: `&&` -> `||` in `assign set_alarm = complete && rings_q;`: an interrupt of the card, no clock
initial assume (rst);
always @(posedge clk)
  if (!$initstate && !$past(rst) && !rst && !$past(busy)) begin
    assert ($stable(tr_fetch) && $stable(state_q) && $stable(bytes_q) && $stable(address_q));
    assert ($stable(start_at_q) && $stable(ended_q) && $stable(failed_q) && $stable(fetches_q));
    assert ($stable(stores_q) && $stable(read_q) && $stable(rings_q));
  end
always @(posedge clk) if (!$initstate && !rst && !busy) assert (!read_start && !read_valid);
always @(posedge clk) cover (!$initstate && !rst && !busy);
