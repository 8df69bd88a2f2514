// Registers change only at edges with `write`, `read` or `start`. No other property of the block is proved.
// Assumed: `link`, `refill` and `enter` come with `write`, as proved of sp_switch_central.
// prove: induction 1 PORTS=4 QUEUE_LOG2=2
// mutants: enables
logic quiet, was_quiet;
logic [1023:0] all, was;
assign quiet = !rst && !write && !reads && !starts;
assign all = {after_read, after_start, behind, kept_q, behind_q, at_read_q, at_start_q, at_behind_q};
always @(posedge clk) {was_quiet, was} <= {quiet, all};
initial assume (rst && !was_quiet);
always_comb begin
  assume (!(link || refill || enter) || write);
  if (was_quiet && !rst) assert (all == was);
end
