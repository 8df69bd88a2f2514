// While `busy` is 0, no register changes, and the memories have no strobe (`sp_switch_heads` and `myri_ram` are proved by
// themselves). No other property of the block is proved. Only one clock is examined, which the solver finishes sooner
// than two.
// prove: induction 1 PORTS=4 QUEUE_LOG2=2
// mutants: enables
logic quiet, was_quiet;
logic [1023:0] all, was;
assign quiet = !rst && !busy;
assign all = {
  place_freed,
  {fresh_q, free_first_q, free_end_q, used, tr_placed, queued_q, attached, first_q, tail_q},
  {reading_q, open_q, feeder_q, head_q, listed_q, list_first_q, list_last_q},
  {gen_input[0].stored_q, gen_input[1].stored_q, gen_input[2].stored_q, gen_input[3].stored_q}
};
always @(posedge clk) {was_quiet, was} <= {quiet, all};
initial assume (rst && !was_quiet);
always_comb begin
  if (was_quiet && !rst) assert (all == was);
  assert (busy || !(writes || reads || starts || enters || links || refills));
end
