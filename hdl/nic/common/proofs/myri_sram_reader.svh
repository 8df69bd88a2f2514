// Each word of a run is read and output once, in order, and no other word. At most one word waits. While `busy` is 0,
// no register changes. The word at an arbitrary `place` is followed. Assumed: a read returns its word one clock later,
// and a run begins after the previous one has ended.
// prove: induction 2 WIDTH=32
// prove: induction 2 WIDTH=64
// unseen: `&&` -> `||` in `assign busy = start || sram.req || sram_read.valid || (held_q && out_ready);`: a clock that runs longer changes no result
(* anyconst *) logic [22-LANE:0] place;
(* anyconst *) logic [WIDTH-1:0] value;  // read data
logic [22-LANE:0] from;  // the run
logic [29:0] all;
logic [29:0] asked;  // words of it that were granted
logic [29:0] given;
logic coming;  // a word was granted one clock earlier, at `last`
logic [22:0] last;

initial assume (rst);
always_comb begin
  assume (sram_read.valid == coming);
  if (coming && last == {place, LANE'(0)}) assume (sram_read.data[WIDTH-1:0] == value);
  if (start) assume (given == all && count != 30'd0);
end
always @(posedge clk) begin
  coming <= !rst && sram.req && sram_gnt;
  last <= sram.addr;
  if (rst) {from, all, asked, given} <= '0;
  else if (start) begin
    from <= addr;
    all <= count;
    {asked, given} <= '0;
  end else begin
    asked <= asked + 30'(sram.req && sram_gnt);
    given <= given + 30'(out_valid && out_ready);
  end
end

always @(posedge clk)
  if (!$initstate && !rst) begin
    assert (asked <= all && given <= asked);
    assert (left_q == all - asked);
    assert (next_q == (22-LANE+1)'(from + asked));
    assert (asked == given + 30'(coming) + 30'(held_q) && !(coming && held_q));
    if (coming) assert (last == {(22-LANE+1)'(from + asked - 30'd1), LANE'(0)});
    assert (out_valid == (coming || held_q));
    if (out_valid && (22-LANE+1)'(from + given) == place) assert (out_data == value);
    assert (sram.req == (asked != all && !held_q && !(coming && !out_ready)));
    if (sram.req) assert (sram.addr == {(22-LANE+1)'(from + asked), LANE'(0)});
    assert ({sram.write, sram.be, sram.wdata} == '0);
    if ($past(rst)) assert (word_q == '0);
    if (!$past(rst) && !$past(busy))
      assert ($stable(next_q) && $stable(left_q) && $stable(held_q) && $stable(word_q));
    cover (given == 30'd2 && held_q && left_q == 30'd0);
  end
