// One grant at most, to one that asks, and one whenever somebody asks; a request that stays is granted after N - 1 grants
// to others at most. Requester `k`, any, is followed: `passed` counts grants to others since it asks.
// prove: induction 2 N=4
// prove: induction 2 N=7
// unseen: `'0` -> `'1` in `candidates = '0;`: it is assigned again when somebody asks, and read only then
// unseen: `'1` -> `'0` in `if (rst) after_last_q <= '1;`: requester 0 comes first either way
// unseen: `'0` -> `'1` in `else if (take && grant != '0) after_last_q <= ~(grant | (grant - 1'b1));`: when nobody asks and the grant is taken, requester 0 comes first
(* anyconst *) logic [2:0] k;
logic [3:0] passed;
logic [3:0] after;  // requesters that come before the one that was granted last, and it
logic [3:0] earlier;  // requesters that come before k

always_comb begin
  after = '0;
  for (int i = 0; i < N; i++) if (!after_last_q[i]) after = after + 4'd1;
  earlier = (4'(k) >= after) ? 4'(k) - after : 4'(k) + 4'(N) - after;
end

initial assume (rst);
always_comb assume (k < N);
always @(posedge clk)
  if (rst || !request[k] || (take && grant[k])) passed <= '0;
  else if (take && grant != '0) passed <= passed + 4'd1;

always_comb begin
  assert ((grant & (grant - 1'b1)) == '0);
  assert ((grant & ~request) == '0);
  assert ((grant != '0) == (request != '0));
end
always @(posedge clk)
  if (!$initstate && !rst) begin
    assert ((after_last_q | (after_last_q >> 1) | (1 << (N - 1))) == (after_last_q == '0 ? 1 << (N - 1) : (after_last_q | (after_last_q >> 1))));
    for (int i = 0; i + 1 < N; i++) assert (!after_last_q[i] || after_last_q[i+1]);
    assert (passed + earlier <= N - 1 || passed == 0);
    assert (passed <= N - 1);
    cover (passed == N - 1);
  end
