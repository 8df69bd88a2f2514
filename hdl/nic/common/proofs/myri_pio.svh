// While `busy` is 0, no register changes. No other property of the block is proved. Assumed: a beat is stable until it
// is accepted, an SRAM read returns its word one clock later, and doorbells request SRAM only for their own beats.
// prove: induction 2
// mutants: enables
logic stays, coming;
logic [2:0] ways;
logic reads;
assign reads = in_beat.read;
always @(posedge clk) begin
  stays  <= !rst && in_valid && !in_ready;
  coming <= !rst && own.req && read && sram_gnt;
  ways   <= {to_sram, to_regs, to_bell};
end
initial assume (rst && !stays && !coming);
always_comb begin
  if (stays) assume (in_valid && {to_sram, to_regs, to_bell} == ways);
  if (coming) assume (reads);
  assume (sram_read.valid == coming);
  if (bell_sram.req) assume (bell_valid && !to_sram);
  if (to_sram) assume (!to_regs && !to_bell);
end
always @(posedge clk)
  if (!$initstate && !rst) begin
    if (!$past(rst) && !$past(busy)) assert ($stable(waiting_q));
    assert (waiting_q == coming);
    if (waiting_q) assert (in_valid && to_sram && in_ready);
    cover (waiting_q);
  end
