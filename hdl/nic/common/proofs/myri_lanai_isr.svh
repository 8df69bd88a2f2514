// A bit set by hardware stays set until the side that does not set it writes 1 to it, or until it is cleared, so no
// event is lost. An arbitrary bit, `k`, is followed.
// prove: induction 2
// unseen: `&&` -> `||` in `assign busy = set != 32'd0 || isr_set != 32'd0 || (hold_reset && (isr | eimr) != 32'd0);`: busy for longer than necessary
(* anyconst *) logic [4:0] k;
logic due;  // set and not cleared since

initial assume (rst);
always @(posedge clk)
  if (rst || hold_reset) due <= 1'b0;
  else if (set[k]) due <= 1'b1;
  else if (clear[k] || (w_isr && w_data[k] && !signals[k])) due <= 1'b0;

always @(posedge clk)
  if (!$initstate && !rst) begin
    if (due) assert (isr[k]);
    assert (intr_line == ((isr & eimr) != 32'd0));
    if (!$past(rst)) begin
      if ($past(set[k]) && !$past(hold_reset)) assert (isr[k] && isr_set[k]);
      if ($past(hold_reset)) assert (isr == 32'd0 && eimr == 32'd0 && isr_set == 32'd0);
      if (!$past(busy) && !$past(w_isr) && !$past(w_eimr) && $past(clear) == 32'd0)
        assert ($stable(isr) && $stable(eimr) && $stable(isr_set));
      if (!$past(set[k]) && !$past(hold_reset)) assert (!isr_set[k]);
      if ($past(w_isr) && !$past(hold_reset) && $past(w_data[k]) && $past(signals[k])) assert (isr[k]);
      if ($past(w_isr) && !$past(set[k]) && $past(w_data[k]) && !$past(signals[k])) assert (!isr[k]);
      if (!$past(w_isr) && !$past(set[k]) && $past(clear[k])) assert (!isr[k]);
      if (!$past(w_isr) && !$past(set[k]) && !$past(isr[k])) assert (!isr[k]);
      if ($past(w_eimr) && !$past(hold_reset)) assert (eimr == $past(w_data));
      if (!$past(w_eimr) && !$past(hold_reset)) assert ($stable(eimr));
    end
    cover (due && !isr_set[k]);
  end
