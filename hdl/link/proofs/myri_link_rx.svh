// The slack buffer never overflows, provided that the characters that arrive after STOP fit above its mark. STOP is
// never in force at or below GO's mark, so never with an empty buffer. The sender is arbitrary but stops within `room`
// characters: those on the cable when STOP is sent, and those that it sends before it receives STOP. A character that
// arrives as the first or second of the buffer is its head or the one behind it, and then becomes the head. The head
// stays until it leaves. Reads of characters that arrived behind these two are not proved.
// prove: induction 2 LANES=1 SLACK_LOG2=4
// unseen: `&` -> `|` in `if (EVALUATE_ALWAYS || (live & ~got_data) != '0) begin`: lanes are examined more often than necessary
// unseen: `||` -> `&&` in `assign full = 8'(level_q) >= cfg.slack || level_q[SLACK_LOG2];`: the buffer never becomes full, as proved here
(* anyconst *) logic [7:0] room;
(* anyconst *) logic [7:0] slack;
(* anyconst *) logic [7:0] stop_mark;
(* anyconst *) logic [7:0] go_mark;
logic [7:0] since;  // edges since STOP took effect

initial assume (rst);
always_comb begin
  assume (cfg.go_mark < cfg.stop_mark);
  assume (cfg.stop_mark >= 8'd1);
  assume (cfg.slack <= 8'd16);
  assume (9'(cfg.stop_mark) + 9'(room) <= 9'(cfg.slack));
  if (stopping[0] && since >= room) assume (!gen_lane[0].arriving);
end
always @(posedge rx_clk[0]) begin
  if (rst || !stopping[0]) since <= '0;
  else if (since < room) since <= since + 8'd1;
end
always_comb assume (cfg.slack == slack && cfg.stop_mark == stop_mark && cfg.go_mark == go_mark);

always @(posedge rx_clk[0])
  if (!$initstate && !rst) begin
    assert (!ev_overflow[0] && (busy || (rx == myri_symbol_pkg::IDLE && !(m_valid[0] && m_ready[0]))));
    assert (got_data[0] == rx[8]);
    assert (got_stop[0] == (rx == myri_symbol_pkg::STOP || rx == myri_symbol_pkg::STOP_DAMAGED));
    assert (got_go[0] == (rx == myri_symbol_pkg::GO || rx == myri_symbol_pkg::GO_DAMAGED));
    assert (got_beat[0] == (rx == myri_symbol_pkg::BEAT));
    assert (ev_illegal[0] == (!rx[8] && rx != myri_symbol_pkg::IDLE && rx != myri_symbol_pkg::GAP && !got_stop[0] &&
        !got_go[0] && !got_beat[0]));
    if ($past(rst)) assert (!m_valid[0] && !stopping[0] && !gen_lane[0].in_packet_q);
    if (!$past(rst) && !$past(rst, 2)) assert (gen_lane[0].in_packet_q == ($past(rx[8]) || $past(gen_lane[0].in_packet_q && rx != myri_symbol_pkg::GAP)));
    assert (fill[7:0] <= cfg.slack);
    if (!stopping[0]) assert (fill[7:0] < cfg.stop_mark);
    else begin
      assert (9'(fill[7:0]) <= 9'(cfg.stop_mark) + 9'(since));
      assert (fill[7:0] > cfg.go_mark);
    end
    assert (m_valid[0] == (fill[7:0] != 8'd0));
    assert (gen_lane[0].third_ptr_q == 4'(gen_lane[0].next_ptr_q + 4'd1));
    assert (4'(gen_lane[0].w_ptr_q - gen_lane[0].next_ptr_q) == 4'(fill[7:0] - 8'd1));
    if (!$past(rst) && !$past(rx_needed[0])) assert ($stable(fill) && $stable(stopping));
    if (!$past(rst) && !$past(rx_needed[0])) assert ($stable(gen_lane[0].head_q) && $stable(gen_lane[0].second));
    if (!$past(rst) && $past(gen_lane[0].push)) begin
      if (fill[7:0] == 8'd1) assert ({m_tail[0], m_data[7:0]} == $past({!rx[8], rx[7:0]}));
      if (fill[7:0] == 8'd2) assert (gen_lane[0].second == $past({!rx[8], rx[7:0]}));
    end
    if (!$past(rst) && $past(fill[7:0] > 8'd1 && pop[0])) assert ({m_tail[0], m_data[7:0]} == $past(gen_lane[0].second));
    if (!$past(rst) && $past(m_valid[0] && !pop[0])) assert ($stable(m_tail[0]) && $stable(m_data[7:0]));
    cover (fill[7:0] == 8'd2 && $past(gen_lane[0].push && pop[0]));
    cover (fill[7:0] == 8'd3 && stopping[0] && cfg.stop_mark == 8'd2);
  end
