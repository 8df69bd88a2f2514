// While `needed` is 0, no register changes. No other property of the block is proved. The lane group at an arbitrary
// `place` is followed.
// prove: induction 2
// mutants: enables
(* anyconst *) logic [3:0] place;
logic [63:0] group;
assign group = mem[place];
initial assume (rst);
always @(posedge clk)
  if (!$initstate && !$past(rst) && !rst && !$past(needed)) begin
    assert ($stable(group) && $stable(sel_q) && $stable(line_q) && $stable(drain_line_q));
    assert ($stable(mask_q) && $stable(drain_q) && $stable(middle_q) && $stable(group_q));
    assert ($stable(held_full_q));
  end
always @(posedge clk) cover (!$initstate && !rst && !needed && drain_q != '0);
