// An available instruction is the one at its address, of a memory without stores (`tag`, an arbitrary word of it). The
// word that arrives is used in its clock exactly if the instruction to execute lies in it. A fetch never names a word
// that is in the buffer, or one beyond the SRAM. A word that arrives is kept at the place of its lowest address bits.
// Missing words are fetched in the order of execution. A prefetch beyond the next instruction leaves the word in use.
// Assumed: after a clock with `moves` the instruction to execute is the one named as next, after others it is the same;
// an instruction moves only if it is available; a memory that returns read data one clock later.
// unseen: `&&` -> `||` in `if (fetch && gnt) arriving_tag_q <= want;`: the tag of a word that does not arrive is not used
// prove: induction 2 WIDTH=64
// prove: induction 2 WIDTH=32
(* anyconst *) logic [TAG-1:0] tag;
(* anyconst *) logic [WIDTH-1:0] content;
(* anyconst *) logic [1:0] log2;
(* anyconst *) logic [PLACE-1:0] place;

initial assume (rst);
always_comb begin
  assume (cfg_fetch_log2 == log2);
  assume (!moves || have);
  assume (!arriving_q || arriving_tag_q != tag || cpu_read.data[WIDTH-1:0] == content);
end
always @(posedge clk)
  if (!$initstate && !rst && !$past(rst)) assume (at == ($past(moves) ? $past(after) : $past(at)));

always @(posedge clk)
  if (!$initstate && !rst) begin
    assert (at_arrives_q == (arriving_q && arriving_tag_q == at_tag));
    assert (!full_q[place] || tag_q[place] != tag || word_q[place] == content);
    if (have && at_tag == tag && (at_arrives_q || at_place == place))
      assert (word == big(WIDTH == 64 && at[2] ? content[WIDTH-1:WIDTH-32] : content[31:0]));
    if (behind_place == place)
      assert (behind_here == (arriving_q && arriving_tag_q == behind_tag || full_q[place] && tag_q[place] == behind_tag));
    if (fetch) begin
      assert (want == at_tag || want == after_tag || want == behind_tag);
      assert ({1'b0, addr} < sram_bytes);
      if (want_place == place) assert (!(full_q[place] && tag_q[place] == want));
      if (have) assert (want != at_tag);
    end
    if (!have && {1'b0, at[22:LANE], {LANE{1'b0}}} < sram_bytes) assert (fetch && want == at_tag);
    if (have && !after_here && {1'b0, after[22:LANE], {LANE{1'b0}}} < sram_bytes) assert (fetch && want == after_tag);
    if (have && after_here)
      assert (fetch == (!behind_here && {1'b0, behind[22:LANE], {LANE{1'b0}}} < sram_bytes &&
          32'(behind_tag) % (1 << log2) != 32'(at_tag) % (1 << log2)));
    if ($past(arriving_q && !rst) && 32'($past(arriving_tag_q)) % (1 << log2) == 32'(place))
      assert (full_q[place] && tag_q[place] == $past(arriving_tag_q));
    cover (at_arrives_q);
  end
