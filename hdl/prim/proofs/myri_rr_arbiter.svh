// At most one grant, to a requester, and exactly one if there is a request. A persistent request is granted after at
// most N - 1 grants to others. An arbitrary requester, `k`, is followed: `passed` counts the grants to others since its
// request.
// prove: induction 2 N=4
// prove: induction 2 N=7
// unseen: `'0` -> `'1` in `candidates = '0;`: reassigned with each request, and read only then
// unseen: `'1` -> `'0` in `if (rst) after_last_q <= '1;`: requester 0 has priority either way
// unseen: `'0` -> `'1` in `else if (take && grant != '0) after_last_q <= ~(grant | (grant - 1'b1));`: without a request a taken grant gives requester 0 priority
(* anyconst *) logic [2:0] k;
logic [3:0] passed;
logic [3:0] after;  // requesters up to and including the one granted last
logic [3:0] earlier;  // requesters with priority over k

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
