// Each of the first four words of a result is kept as it was accepted, and is 0 where the result has none. The number of
// bytes is the sum over the accepted words; nothing is accepted after the last word, and no byte beyond a full segment.
// Without `ce` no register changes. `next` begins another segment.
// An arbitrary word, `place`, is followed. Assumed: only the last word of a result has fewer than four bytes.
// prove: induction 2
// mutants: enables
(* anyconst *) logic [1:0] place;
logic [31:0] kept, held;
logic [17:0] bytes;
assign held = first[place];
initial assume (rst);
always_comb if (in_valid && !in_last) assume (in_bytes == 3'd4);
always_comb assume (in_bytes <= 3'd4);
always @(posedge clk)
  if (rst || !open || (ce && next)) {kept, bytes} <= '0;
  else if (ce && in_valid && in_ready) begin
    bytes <= bytes + {15'd0, in_bytes};
    if (bytes[17:2] == {14'd0, place} && in_bytes != '0) kept <= in_data;
  end
always @(posedge clk)
  if (!$initstate && !rst) begin
    assert (held == kept && count == bytes);
    if (!ended) assert (bytes[1:0] == '0);
    if (!$past(rst) && $past(open) && open && !$past(ce))
      assert ($stable(count_q) && $stable(held) && $stable(ended) && $stable(word_q) && $stable(finished));
    if (ended) assert (!in_ready);
    if (full) assert (bytes == {2'd0, most} && !(in_ready && in_bytes != '0));
    cover (ended && count == 18'd9);
  end
