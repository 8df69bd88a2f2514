// At most one agent has the grant. On an idle bus one clock without a grant separates two owners. The owner keeps the
// grant until it has begun a transaction and another agent requests, or until it no longer requests. A requesting agent
// waits for at most AGENTS - 2 others. An arbitrary agent, `k`, is followed: `passed` counts the owners chosen before
// it.
// prove: induction 2 AGENTS=4
// prove: induction 2 AGENTS=2
(* anyconst *) logic [3:0] k;
logic [3:0] passed;
logic [3:0] owner;  // number
logic [3:0] between;  // agents after the owner and before k
logic asks;  // the owner requests the bus
logic wanted;  // another agent requests the bus
logic ran;  // a transaction was on the bus one clock earlier
logic begun;  // the owner has begun a transaction since its grant; cleared for the parked agent on an idle bus
logic begins_now;
logic moves;  // the owner changes at the coming edge

always_comb begin
  owner = '0;
  for (int i = 0; i < AGENTS; i++) if (owner_q[i]) owner = 4'(i);
  between = (k > owner) ? k - owner - 4'd1 : k + 4'(AGENTS) - owner - 4'd1;
  asks = (~req_n & owner_q) != '0;
  wanted = (~req_n & ~owner_q) != '0;
  begins_now = !frame_n && !ran && gnt_n != '1;
end

initial assume (rst);
always_comb assume (k < AGENTS);
always @(posedge clk) begin
  ran <= !rst && (!frame_n || !irdy_n);
  if (rst || gnt_n == '1 || moves) begun <= 1'b0;
  else if (begins_now) begun <= 1'b1;
  else if (owner == 0 && frame_n && irdy_n) begun <= 1'b0;
  if (rst || req_n[k] || owner_q[k] || (moves && chosen[k])) passed <= '0;
  else if (moves) passed <= passed + 4'd1;
end

always_comb begin
  if (gnt_n == '1) moves = 1'b0;
  else if (!frame_n || !irdy_n) moves = wanted && (begun || begins_now || !asks);
  else moves = !asks && (wanted || owner != 0);
end

always @(posedge clk)
  if (!$initstate && !rst) begin
    assert ((owner_q & (owner_q - PARK)) == '0 && owner_q != '0);
    assert (gnt_n == '1 || gnt_n == ~owner_q);
    assert (busy_q == ran && used_q == begun);
    if (owner_q[k]) assert (passed == 0);
    else assert (passed + between <= AGENTS - 2);
    if ($past(rst)) assert (gnt_n == ~PARK);
    else begin
      assert ((owner_q != $past(owner_q)) == $past(moves));
      if ($past(moves) && $past(wanted)) assert (($past(req_n) & owner_q) == '0);
      if ($past(moves) && !$past(wanted)) assert (owner_q == PARK);
      assert ((gnt_n == '1) == $past(moves && frame_n && irdy_n));
      if (!$past(busy)) assert (gnt_n == ~PARK && $stable(used_q) && $stable(busy_q));
      if ($past(frame_n && irdy_n && req_n == '1) && gnt_n == ~PARK && $past(gnt_n) == ~PARK && !$past(ran) && !$past(begun))
        assert (!$past(busy));
    end
    cover (passed == AGENTS - 2 && !owner_q[k]);
  end
