// Each byte of a run is output once, in order, in its lane, and no other byte is. The byte at an arbitrary `place` is
// followed. The run ends with its last byte, when all input words have been accepted. While `busy` is 0, no register
// changes. Assumed: a run begins when none is active, and has at least one byte.
// prove: induction 2
// unseen: `64'd0` -> `64'd1` in `assign current = need ? in_data : 64'd0;`: after the run no lane is enabled
// unseen: `previous_q <= 64'd0;` (2) -> `;` in `previous_q <= 64'd0;`: before the run no lane is enabled
// unseen: `64'd0` (2) -> `64'd1` in `previous_q <= 64'd0;`: before the run no lane is enabled
// unseen: `&&` (1) -> `||` in `assign busy = start || (out_valid && out_ready) || (in_valid && in_ready);`: a clock that runs longer changes no result
// unseen: `&&` (2) -> `||` in `assign busy = start || (out_valid && out_ready) || (in_valid && in_ready);`: a clock that runs longer changes no result
(* anyconst *) logic [31:0] place;
(* anyconst *) logic [2:0] lane;  // a lane is written
logic [33:0] all;  // bytes of the run
logic [2:0] from;  // its first lanes
logic [2:0] to;
logic [33:0] words_in;  // words taken
logic [33:0] words_out;
logic [33:0] taken;  // bytes
logic [33:0] given;
logic [2:0] at_in;  // lanes of the byte followed
logic [2:0] at_out;
logic [7:0] kept;  // the byte, once taken

assign taken  = all - {2'd0, in_left_q};
assign given  = all - {2'd0, out_left_q};
assign at_in  = from + place[2:0];
assign at_out = to + place[2:0];

initial assume (rst);
always_comb if (start) assume (!active && bytes != 32'd0);
always @(posedge clk)
  if (rst) {all, from, to, words_in, words_out} <= '0;
  else if (start) begin
    all <= {2'd0, bytes};
    {from, to} <= {src, dst};
    {words_in, words_out} <= '0;
  end else begin
    words_in  <= words_in + 34'(in_valid && in_ready);
    words_out <= words_out + 34'(out_valid && out_ready);
    if (in_valid && in_ready && 34'(place) >= taken && 34'(place) < taken + 34'(in_bytes)) kept <= in_data[8*at_in+:8];
  end

always @(posedge clk)
  if (!$initstate && !rst) begin
    assert (34'(in_left_q) <= all && 34'(out_left_q) <= all);
    assert (all[33:32] == 2'd0 && words_in < 34'h4000_0000 && words_out < 34'h4000_0000);
    assert (active == (out_left_q != 32'd0));
    if (!active) assert (in_left_q == 32'd0);
    assert (in_want == (active && in_left_q != 32'd0));
    assert (in_be[lane] == (lane >= in_at_q && 4'(lane) < 4'(in_at_q) + in_bytes));
    assert (out_be[lane] == (lane >= out_at_q && 4'(lane) < 4'(out_at_q) + out_bytes));
    if (active) begin
      assert (shift_q == 3'(to - from));
      if (in_left_q != 32'd0) begin
        assert (taken == ((words_in == 34'd0) ? 34'd0 : (words_in << 3) - 34'(from)));
        assert (in_at_q == ((words_in == 34'd0) ? from : 3'd0));
      end else assert ((words_in << 3) >= 34'(from) + all && (words_in << 3) < 34'(from) + all + 34'd8);
      assert (given == ((words_out == 34'd0) ? 34'd0 : (words_out << 3) - 34'(to)));
      assert (out_at_q == ((words_out == 34'd0) ? to : 3'd0));
      assert (in_skip == (from > to && words_in == 34'd0));
      if (in_skip) assert (words_out == 34'd0 && in_left_q != 32'd0);
      else assert (words_in == words_out + 34'(from > to));
      if (34'(place) < taken && 34'(place) >= given) assert (previous_q[8*at_in+:8] == kept);
      assert (out_valid == (!in_skip && (in_left_q == 32'd0 || in_valid)));
    end
    if (out_valid) begin
      assert (active && out_bytes != 4'd0 && given + 34'(out_bytes) <= all);
      if (34'(place) >= given && 34'(place) < given + 34'(out_bytes))
        assert (out_data[8*at_out+:8] == ((34'(place) < taken) ? kept : in_data[8*at_in+:8]));
    end
    if (in_valid && in_want && !in_skip) assert (out_valid);
    if ($past(rst)) assert ({active, in_skip, shift_q, in_at_q, out_at_q, in_left_q, out_left_q, previous_q} == '0);
    if (!$past(rst)) begin
      if ($past(out_valid && out_ready)) assert (given == $past(given) + 34'($past(out_bytes)));
      if (!$past(busy)) begin
        assert ($stable(active) && $stable(in_skip) && $stable(shift_q) && $stable(in_at_q) && $stable(out_at_q));
        assert ($stable(in_left_q) && $stable(out_left_q) && $stable(previous_q));
      end
    end
    cover ($fell(active) && all == 34'd9 && from > to);
    cover (in_left_q == 32'd0 && active);
  end
