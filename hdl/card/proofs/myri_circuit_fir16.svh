// While `busy` is 0 and no word arrives, no register changes. No other property of the block is proved. An arbitrary
// tap, `tap`, is followed. Only one clock is examined, so that the solver has the multipliers once.
// prove: induction 1
// mutants: enables
(* anyconst *) logic [3:0] tap;
logic quiet, was_quiet;
logic [350:0] all, was;
assign quiet = !rst && !busy && !in_valid;
assign all = {
  coefficient[tap],
  line_q,
  word_q,
  bytes_q,
  last_q,
  held_q,
  upper_q,
  full_q,
  loaded_q,
  out_last,
  out_bytes,
  out_data
};
always @(posedge clk) {was_quiet, was} <= {quiet, all};
initial assume (rst && !was_quiet);
always_comb if (was_quiet && !rst) assert (all == was);
