// Words hold the bytes of a packet in order, and the tail entry holds the rest. The syndrome is the CRC-8 of all bytes,
// by definition. While `busy` is 0, no register changes. An arbitrary lane, `lane`, is followed. The packet key is not
// examined.
// prove: induction 2 WIDTH=32
// prove: induction 2 WIDTH=64
(* anyconst *) logic [2:0] lane;
logic [7:0] kept;  // value written to that lane
logic [2:0] held;  // bytes of the word so far
logic [7:0] crc;
logic [7:0] shifted;
logic [31:0] length;
logic [47:0] begun;  // time of arrival of the first byte

initial assume (rst);
always_comb begin
  assume (lane < WIDTH / 8);
  shifted = crc ^ m_data;
  for (int i = 0; i < 8; i++) shifted = {shifted[6:0], 1'b0} ^ (shifted[7] ? 8'h07 : 8'h00);
end
always @(posedge clk)
  if (rst || (m_valid && m_ready && m_tail)) {held, crc, length} <= '0;
  else if (m_valid && m_ready) begin
    held <= (held == WIDTH / 8 - 1) ? 3'd0 : held + 3'd1;
    crc <= shifted;
    length <= length + 32'd1;
    if (held == lane) kept <= m_data;
  end
always @(posedge clk) if (!rst && m_valid && m_ready && length == 0) begun <= cycle;

always @(posedge clk)
  if (!$initstate && !rst) begin
    assert (count_q == held && crc_q == crc && length_q == length);
    if (length != 0) assert (start_q == begun);
    if (held > lane) assert (bytes_q[8*lane+:8] == kept);
    assert (out_valid == (m_valid && (m_tail || held == WIDTH / 8 - 1)));
    if (m_valid) assert (m_ready == (out_ready || !out_valid));
    if (out_valid) begin
      assert (out_head.tail == m_tail);
      assert (out_head.count == (m_tail ? {1'b0, held} : WIDTH / 8));
      assert (out_head.syndrome == (m_tail ? crc : 8'd0));
      if (lane < held) assert (out_data[8*lane+:8] == kept);
      else assert (out_data[8*lane+:8] == (m_tail ? 8'd0 : m_data));
    end
    assert (trace.tail == (m_valid && m_ready && m_tail));
    assert (crc_bad == (trace.tail && crc != 8'd0));
    assert (trace.bytes == length && trace.syndrome == crc && in_packet == (length != 0));
    assert (trace.ago == (in_packet ? 32'(cycle - begun) : 32'd0));
    if ($past(rst)) assert (bytes_q == '0 && start_q == '0);
    if (!$past(rst) && !$past(busy))
      assert ($stable(bytes_q) && $stable(count_q) && $stable(crc_q) && $stable(length_q) && $stable(start_q));
    cover (trace.tail && held == 3'd2 && !crc_bad);
  end
