// Both ends of a link with their cables; each sends, accepts, and has its slots for BEAT and STOP refresh at arbitrary
// times, but two BEATs are never adjacent. No slack buffer overflows if it has room above STOP's mark for the
// characters in flight: twice the cable plus `EXTRA` characters. STOP is never in force at or below GO's mark, so never
// with an empty buffer. From a to b characters arrive in order, once, and no others. A packet cut by a long time-out
// ends with a GAP, its rest is discarded up to its own GAP, and the next packet begins with its first character. No
// packet is cut before it has waited for the time-out. One arbitrary character is followed from the edge at which it is
// accepted.
// prove: bounded 12
// mutants of: myri_link_tx
localparam logic [7:0] EXTRA = 8'd4;
(* anyconst *) logic [7:0] delay, slack, stop_mark, go_mark;
(* anyconst *) logic [31:0] long_timeout;
(* anyconst *) logic [15:0] short_timeout;
(* anyseq *) logic pick;  // the character accepted at this edge is followed
logic [47:0] now;
logic [1:0] beat_last;
logic under_way;  // a packet from a to b whose GAP was not accepted yet
logic swallowing;  // it was cut, the rest is discarded
logic [5:0] waited;  // clocks since a's last character was accepted
logic enters;  // a further character is on its way to b
logic leaves;
logic [8:0] what;
logic [5:0] on_way;
logic follows;
logic [5:0] ahead;  // characters before the one that is followed
logic [8:0] own;

assign enters = (s_valid[0] && s_ready[0] && !swallowing && (!s_tail[0] || under_way)) || (ev_forward_reset[0] && under_way);
assign what = (ev_forward_reset[0] || s_tail[0]) ? {1'b1, 8'd0} : {1'b0, s_data[7:0]};
assign leaves = m_valid[1] && m_ready[1];

initial assume (rst);
always_comb begin
  assume (cfg_delay == delay && delay < 8'd4 && cycle == now);
  assume (cfg.slack == slack && slack <= 8'd16 && cfg.stop_mark == stop_mark && cfg.go_mark == go_mark);
  assume (go_mark < stop_mark && stop_mark != 8'd0 && stop_mark <= 8'd16 && stop_mark + 8'd2 * delay + EXTRA <= slack);
  assume (cfg.long_timeout == long_timeout && long_timeout <= 32'd8);
  assume (cfg.short_timeout == short_timeout && short_timeout <= 16'd8);
  assume ((beat_due & beat_last) == 2'd0);
  if ($initstate) assume (now == 48'd0);
  else assume (!rst);
end
always @(posedge clk) begin
  now <= now + 48'd1;
  beat_last <= rst ? 2'd0 : beat_due;
  if (rst) {under_way, swallowing, on_way, waited, follows} <= '0;
  else begin
    if (ev_forward_reset[0]) {under_way, swallowing} <= 2'b01;
    else if (s_valid[0] && s_ready[0]) begin
      if (s_tail[0]) {under_way, swallowing} <= 2'b00;
      else if (!swallowing) under_way <= 1'b1;
    end
    waited <= (s_valid[0] && s_ready[0]) ? 6'd0 : waited + 6'd1;
    on_way <= on_way + 6'(enters) - 6'(leaves);
    if (!follows && enters && pick) {follows, ahead, own} <= {1'b1, on_way - 6'(leaves), what};
    else if (follows && leaves) {follows, ahead} <= {ahead != 6'd0, ahead - 6'd1};
  end
end

always @(posedge clk)
  if (!$initstate) begin
    assert (ev_overflow == 2'd0 && ev_illegal == 2'd0 && ev_short_timeout == 2'd0);
    if (long_timeout == 32'd0) assert (ev_forward_reset == 2'd0);
    if (ev_forward_reset[0] && under_way) assert ({26'd0, waited} >= long_timeout);
    for (int i = 0; i < 2; i++) if (stopping[i]) assert (fill[8*i+:8] > go_mark);
    if (leaves) assert (on_way != 6'd0);
    if (leaves && follows && ahead == 6'd0) assert (m_tail[1] == own[8] && (own[8] || m_data[15:8] == own[7:0]));
    cover (fill[15:8] == slack && slack == 8'd6);
    cover (leaves && m_tail[1] && swallowing);
  end
