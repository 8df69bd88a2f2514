// While `busy` is 0, no register changes, and no visible register of its parts. No other property of the block is
// proved. Only one clock is examined, which the solver finishes sooner than two.
// prove: induction 1
// mutants: enables
// unseen: `&&` -> `||` in `(hold_reset && myrinet != MYRINET_AFTER_RESET);`: a clock that runs longer changes no result
logic quiet, was_quiet;
logic [575:0] all, was;
assign quiet = !rst && !busy;
assign all = {
  {lar_q, rmw_q, rmc_q, smh_q, smc_q, debug_q, led_q, write_enable_q, clock_word_q},
  {myrinet, cpuc_base_q, isr, isr_set, eimr, errors, lost},
  alarm
};
always @(posedge clk) {was_quiet, was} <= {quiet, all};
initial assume (rst && !was_quiet);
always_comb if (was_quiet && !rst) assert (all == was);
