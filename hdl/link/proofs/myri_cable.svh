// While `busy` is 0, no register changes. No other property of the block is proved. An arbitrary place of the line,
// `at`, is followed.
// prove: induction 2 MAX_LOG2=2
// mutants: enables
(* anyconst *) logic [MAX_LOG2-1:0] at;
logic [8:0] kept;
assign kept = mem[at];
initial assume (rst);
always @(posedge clk)
  if (!$initstate && !$past(rst) && !rst && !$past(busy)) begin
    assert ($stable(kept) && $stable(place_q) && $stable(last_q) && $stable(wrapped_q));
    assert ($stable(left_q) && $stable(delayed));
  end
always @(posedge clk) cover (!$initstate && !rst && !busy && last_q != '0);
always @(posedge clk) cover (!$initstate && !rst && !busy && cfg_delay == '0 && in != last_q);
