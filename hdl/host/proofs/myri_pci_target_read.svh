// While `needed` is 0, no read is claimed and none is in hand (the target's own clock goes on for these), nothing changes; `busy`
// as long as an answer is awaited, or a request is to be made or taken. The group at `place`, any, is followed. Assumed: an
// answer comes later than its request was taken, and a group is taken from the head only for the read in hand, when there
// is one.
// prove: induction 2
// mutants: enables
// unseen: `&` -> `|` in `assign needed = (tread_valid & tread_ready) | td_valid |`: a clock that goes on longer loses nothing
// unseen: `&` -> `|` in `(open_q & (need_q | (burst_q & count_q + flight_q < ahead_q)));`: a clock that goes on longer loses nothing
(* anyconst *) logic [2:0] place;
logic [63:0] kept;
logic [3:0] due;  // requests taken and not answered
assign kept = mem[place];
initial assume (rst);
always_comb begin
  if (!owned_q || count_q == 4'd0) assume (!pop);
  if (due == 4'd0) assume (!td_valid);
end
always @(posedge clk) due <= rst ? 4'd0 : due + 4'(tread_valid && tread_ready) - 4'(td_valid);
always @(posedge clk)
  if (!$initstate && !rst) begin
    assert (5'(due) + 5'(tread_valid) == 5'(flight_q) + 5'(drop_q));
    assert (6'(count_q) + 6'(flight_q) + 6'(drop_q) <= 6'd8);
    assert (busy == (tread_valid || due != 4'd0 || need_q));
    if (!$past(rst) && !$past(needed || claim || owned_q)) begin
      assert ($stable(kept) && $stable(in_q) && $stable(out_q) && $stable(count_q));
      assert ($stable(flight_q) && $stable(drop_q) && $stable(ahead_q) && $stable(next_q));
      assert ($stable(open_q) && $stable(need_q) && $stable(burst_q) && $stable(owned_q));
      assert ($stable(d_valid_q) && $stable(c_addr_q) && $stable(c_cmd_q) && $stable(d_since_q));
      assert ($stable(tread_valid) && $stable(tread_addr) && $stable(tread_bytes) && $stable(tread_first));
    end
    cover (!needed && d_valid_q && count_q != 4'd0);
  end
