// Each word of a message is read and output once, in order, and no other word, and none while `halt` is 1. At most one word waits. After a clock
// with `open` = 0 no word waits, and without `ce` no register changes. An arbitrary word, `place`, is followed.
// Assumed: a read returns its word one clock later and holds it until the next read; `upto` does not decrease while the
// message is open, and `front` is stable.
// prove: induction 2
(* anyconst *) logic [18:0] place;
(* anyconst *) logic [31:0] value;  // read data
logic [18:0] from;
logic [16:0] asked, given;
logic [16:0] all;  // `upto` one clock earlier
logic [18:0] last;  // the last word that was read
logic was_open;

initial assume (rst);
always_comb begin
  if (last == place) assume (mem_rdata == value);
  if (was_open && open) assume (front[20:2] == from && upto >= all);
end
always @(posedge clk) begin
  was_open <= !rst && open;
  all <= upto;
  from <= front[20:2];
  if (mem_read) last <= mem_addr;
  if (rst || !open) {asked, given} <= '0;
  else if (ce) begin
    asked <= asked + 17'(mem_read);
    given <= given + 17'(valid && ready);
  end
end

always @(posedge clk)
  if (!$initstate && !rst) begin
    assert (asked_q == asked && asked == given + 17'(due_q) + 17'(kept_q) && !(due_q && kept_q));
    if (was_open) assert (asked <= all);
    else assert (asked == '0 && !valid);
    if (valid) assert (asked != '0 && was_open);
    if (valid && open && from + 19'(given) == place) assert (data == value);
    if (due_q && was_open) assert (last == from + 19'(asked) - 19'd1);
    assert (mem_read == (ce && open && !halt && asked != upto && !(valid && !ready)));
    if (mem_read) assert (mem_addr == front[20:2] + 19'(asked));
    if ($past(rst)) assert (word_q == '0);
    if (!$past(rst) && !$past(ce) && $past(open)) assert ($stable(due_q) && $stable(kept_q) && $stable(asked_q) && $stable(word_q));
    cover (given == 17'd2 && kept_q);
  end
