// Each byte of each entry is sent once, in order, and an entry is accepted with its last byte. An entry with tail is
// followed by the CRC-8 of the packet's bytes, by definition, if enabled (inverted if the packet is to be rejected),
// and by one GAP. While `busy` is 0, no register changes. The packet key is not examined. Assumed: an entry is stable
// until it is accepted, and names existing lanes.
// prove: induction 2 WIDTH=32
// prove: induction 2 WIDTH=64
// unseen: `&&` -> `||` in `assign busy = sent || (in_valid && in_ready);`: a clock that runs longer changes no result
// unseen: `&&` -> `||` in `assign key_take   = sent && state_q != CRC;`: the packet key is not examined
// unseen: `!=` -> `==` in `assign key_take   = sent && state_q != CRC;`: the packet key is not examined
// unseen: `==` -> `!=` in `assign at_gap = state_q == GAP;`: the packet key is not examined
logic [3:0] gone;  // bytes of the entry that have left
logic [3:0] own;  // bytes of the entry
logic [2:0] lane;  // lane of the next entry
logic [1:0] phase;  // BYTES, CRC, GAP
logic turned;  // the CRC is to be wrong
logic [7:0] crc;
logic [7:0] shifted;
logic any;  // a byte of the packet has left
logic [47:0] begun;  // when the first byte left

assign own  = in_head.last - {1'b0, in_head.first};
assign lane = in_head.first + gone[2:0];

initial assume (rst);
always_comb begin
  assume ({1'b0, in_head.first} <= in_head.last && in_head.last <= WIDTH / 8);
  shifted = crc ^ s_data;
  for (int i = 0; i < 8; i++) shifted = {shifted[6:0], 1'b0} ^ (shifted[7] ? 8'h07 : 8'h00);
end
always @(posedge clk)
  if (!$initstate && !$past(rst) && $past(in_valid && !in_ready)) assume (in_valid && $stable(in_head) && $stable(in_data));
always @(posedge clk)
  if (rst) {gone, phase, turned, crc, any} <= '0;
  else if (s_valid && s_ready && s_tail) {phase, crc, any} <= '0;
  else if (phase == 2'd1) begin
    if (s_ready) phase <= 2'd2;
  end else if (phase == 2'd0) begin
    if (s_valid && s_ready) begin
      crc <= shifted;
      any <= 1'b1;
      if (!any) begun <= cycle;
    end
    if (in_valid && in_ready) begin
      gone <= '0;
      if (in_head.tail) begin
        phase  <= (in_head.crc_en || in_head.cut) ? 2'd1 : 2'd2;
        turned <= in_head.cut;
      end
    end else gone <= gone + 4'(s_valid && s_ready);
  end

always @(posedge clk)
  if (!$initstate && !rst) begin
    assert (state_q == phase && phase != 2'd3 && crc_q == crc && in_packet == any);
    assert (begun_q == (gone != 4'd0));
    if (begun_q) assert (in_valid && gone < own && lane_q == lane);
    if (phase != BYTES) assert (gone == 4'd0);
    if (phase == CRC) assert (abort_q == turned);
    if (phase == BYTES) begin
      assert (s_valid == (in_valid && own != 4'd0) && !s_tail);
      if (s_valid) assert (s_data == in_data[8*lane+:8]);
      if (in_valid) assert (in_ready == (gone + 4'(s_valid && s_ready) == own));
    end else assert (s_valid && !in_ready && s_tail == (phase == GAP));
    if (phase == CRC) assert (s_data == (turned ? ~crc : crc));
    assert (trace.tail == (s_valid && s_ready && s_tail));
    assert (trace.ago == (any ? 32'(cycle - begun) : 32'd0));
    if (any) assert (start_q == begun);
    if ($past(rst)) assert ({lane_q, abort_q, start_q} == '0);
    if (!$past(rst) && !$past(busy)) begin
      assert ($stable(state_q) && $stable(begun_q) && $stable(lane_q) && $stable(crc_q) && $stable(abort_q));
      assert ($stable(in_packet) && $stable(start_q));
    end
    cover (trace.tail && turned);
    cover (phase == CRC && !turned && crc == 8'h07);
  end
