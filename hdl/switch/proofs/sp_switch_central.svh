// While `busy` is 0, no register changes. No other property of the block is proved. An arbitrary place of the memories,
// `followed`, is followed. Only one clock is examined, which the solver finishes sooner than two.
// prove: induction 1 PORTS=4 QUEUE_LOG2=2
// mutants: enables
(* anyconst *) logic [W-1:0] followed;
logic quiet, was_quiet;
logic [1023:0] all, was;
assign quiet = !rst && !busy;
assign all = {
  u_heads.u_read_chunk.mem[followed],
  u_heads.u_start_chunk.mem[followed],
  u_heads.u_read_next.mem[followed],
  u_heads.u_start_next.mem[followed],
  u_heads.u_behind.mem[followed],
  u_free.mem[followed],
  {u_heads.after_read, u_heads.after_start, u_heads.behind, u_heads.kept_q, u_heads.behind_q, place_freed},
  {u_heads.at_read_q, u_heads.at_start_q, u_heads.at_behind_q},
  {fresh_q, free_first_q, free_end_q, used, tr_placed, queued_q, attached, first_q, tail_q},
  {reading_q, open_q, feeder_q, head_q, listed_q, list_first_q, list_last_q},
  {gen_input[0].stored_q, gen_input[1].stored_q, gen_input[2].stored_q, gen_input[3].stored_q}
};
always @(posedge clk) {was_quiet, was} <= {quiet, all};
initial assume (rst && !was_quiet);
always_comb if (was_quiet && !rst) assert (all == was);
