// Each group that the master takes is the answer to the next request. The first request has the address of the claimed
// read, each further one the following group, and no answer of a finished read is returned. Requests are made once, in
// order, no further ahead than the command allows, hint at that number, and are stable until accepted. While `needed`
// is 0, no read is claimed and none is current (the target keeps the clock running for these), no register changes.
// `busy` is 1 as long as an answer is awaited, or a request is to be made or accepted. An arbitrary request is
// followed, and the group at an arbitrary `place`.
// Assumed: answers arrive in the order of the requests, after these were accepted. A read is claimed when no other is
// current. A group is taken only for the current read, when one is available. A read is delayed at its end, before its
// first group was taken.
// prove: induction 2
// unseen: `&` -> `|` in `assign needed = (tread_valid & tread_ready) | td_valid |`: a clock that runs longer changes no result
// unseen: `&` (1) -> `|` in `(open_q & (need_q | (burst_q & count_q + flight_q < ahead_q)));`: a clock that runs longer changes no result
// unseen: `&` (2) -> `|` in `(open_q & (need_q | (burst_q & count_q + flight_q < ahead_q)));`: a clock that runs longer changes no result
(* anyconst *) logic [2:0] place;
(* anyseq *) logic pick;  // the request that is made now is followed
logic [63:0] kept, own;  // own: its answer
logic [3:0] due, before;  // requests taken and not answered, of them before the followed one
logic on, held;  // one is followed, its answer is here
logic [28:0] asked, popped, number;  // of this read: requests, groups taken; the followed request
logic [28:0] base;  // where the claimed read begins
logic [28:0] turn;  // groups before that of the followed request
logic asks;  // a request is made

assign kept = mem[place];
assign turn = number - popped;
assign asks = open_q && !start && !finish && (need_q ? !w_pending : want_more) && (!tread_valid || tread_ready) &&
    count_q + flight_q + drop_q < 4'd8;
initial assume (rst);
always_comb begin
  if (!owned_q || count_q == 4'd0) assume (!pop);
  if (due == 4'd0) assume (!td_valid);
  if (owned_q) assume (!claim);
  if (popped != 29'd0 || pop || !fin) assume (!retry);
end
always @(posedge clk) begin
  due <= rst ? 4'd0 : due + 4'(tread_valid && tread_ready) - 4'(td_valid);
  if (claim && !refuse) base <= claim_addr[31:3];
  if (rst || start || finish) {on, held, asked, popped} <= '0;
  else begin
    asked  <= asked + 29'(asks);
    popped <= popped + 29'(pop);
    if (on && !held && td_valid) begin
      before <= before - 4'd1;
      held   <= before == 4'd0;
      own    <= td_data;
    end
    if (!on && asks && pick) {on, held, number, before} <= {2'b10, asked, 4'(due + 4'(tread_valid) - 4'(td_valid))};
    if (on && held && pop && turn == 29'd0) on <= 1'b0;
  end
end
always @(posedge clk)
  if (!$initstate && !rst) begin
    assert (5'(due) + 5'(tread_valid) == 5'(flight_q) + 5'(drop_q));
    assert (6'(count_q) + 6'(flight_q) + 6'(drop_q) <= 6'd8);
    assert (busy == (tread_valid || due != 4'd0 || need_q));
    assert (3'(in_q - out_q) == count_q[2:0] && asked == popped + 29'(count_q) + 29'(flight_q));
    if (open_q) assert (next_q == c_addr_q[31:3] + asked);
    if (need_q) assert (open_q && {asked, count_q, flight_q} == '0);
    if (open_q) assert (owned_q || d_valid_q);
    if (owned_q || d_valid_q) assert (ahead_q == (c_cmd_q == 4'h6 ? 4'd2 : c_cmd_q == 4'hE ? 4'd4 : 4'd8) && count_q + flight_q <= ahead_q);
    if (open_q && !need_q) assert (next_q > c_addr_q[31:3]);
    if (owned_q || d_valid_q) assert (base == c_addr_q[31:3]);
    if (d_valid_q) assert (!owned_q && popped == 29'd0);
    if (on && !held) assert (29'(turn - 29'(count_q)) < 29'(flight_q) && 29'(before) == 29'(drop_q) + turn - 29'(count_q));
    if (on && held) assert (turn < 29'(count_q) && mem[3'(out_q+turn[2:0])] == own);
    if (on && turn == 29'd0 && count_q != 4'd0) assert (held && head == own);
    if (count_q == 4'd0) assert (head == 64'd0);
    if (!$past(rst)) begin
      if ($past(asks)) assert (tread_valid && tread.addr == {base + asked - 29'd1, 3'd0} && tread.first == (asked == 29'd1));
      if ($past(asks)) assert (tread.bytes == {1'b0, $past(ahead_q), 3'd0});
      if ($past(tread_valid && !tread_ready))
        assert (tread_valid && $stable(tread.addr) && $stable(tread.bytes) && $stable(tread.first));
      if ($past(have && !finish && !start)) assert (count_q != 4'd0);
      if ($past(claim && !refuse)) assert (owned_q && !d_valid_q);
      if (!$past(needed || claim || owned_q)) begin
        assert ($stable(kept) && $stable(in_q) && $stable(out_q) && $stable(count_q));
        assert ($stable(flight_q) && $stable(drop_q) && $stable(ahead_q) && $stable(next_q));
        assert ($stable(open_q) && $stable(need_q) && $stable(burst_q) && $stable(owned_q));
        assert ($stable(d_valid_q) && $stable(c_addr_q) && $stable(c_cmd_q) && $stable(d_since_q));
        assert ($stable(tread_valid) && $stable(tread.addr) && $stable(tread.bytes) && $stable(tread.first));
      end
    end
    cover (!needed && d_valid_q && count_q != 4'd0);
    cover (on && held && popped == 29'd2);
  end
