// While `needed` is 0 and no transaction of this master is on the bus or was one clock earlier (the master keeps the
// clock running for these), no register changes. No other property of the block is proved. Assumed: a parked bus
// carries the value that the parked master drives, 0.
// prove: induction 2
// mutants: enables
logic quiet;  // no phase of a transaction
assign quiet = !in_addr && !in_data;
initial assume (rst);
always_comb if (park && quiet && par_oe_q) assume ({bus.ad[31:0], bus.cbe[3:0]} == '0);
always @(posedge clk)
  if (!$initstate && !$past(rst) && !rst && $past(quiet && !par64_oe_q && !needed)) begin
    assert ($stable(par_q) && $stable(par64_q) && $stable(par_oe_q) && $stable(par64_oe_q));
  end
always @(posedge clk) cover (!$initstate && !rst && !needed && park);
