// While `busy` is 0, no register changes, and no visible register of its parts. No other property of the block is
// proved. Assumed: timers 1 and 2, which are never started here, do not run. Only one clock is examined, which the
// solver finishes sooner than two.
// prove: induction 1
// mutants: enables
// unseen: `&&` -> `||` in `(hold_reset && myrinet_q != MYRINET_AFTER_RESET);`: a clock that runs longer changes no result
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
