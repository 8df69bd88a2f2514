// While `busy` is 0 nothing changes, in the parts as far as they show it: no other property of the block. Assumed: timers 1 and
// 2, which nothing starts here, do not run. One clock is looked at, which the solver has through sooner than two.
// prove: induction 1
// mutants: enables
// unseen: `&&` -> `||` in `(hold_reset && myrinet_q != MYRINET_AFTER_RESET);`: a clock that goes on longer loses nothing
logic quiet, was_quiet;
logic [447:0] all, was;
assign quiet = !rst && !busy;
assign all = {
  {cks_q, sts_q, timeout_q, debug_q, led_q, write_enable_q, myrinet_q}, {isr, isr_set, eimr, errors, lost}, alarm
};
always @(posedge clk) {was_quiet, was} <= {quiet, all};
initial assume (rst && !was_quiet);
always_comb begin
  assume (expired[2:1] == 2'd0);
  if (was_quiet && !rst) assert (all == was);
end
