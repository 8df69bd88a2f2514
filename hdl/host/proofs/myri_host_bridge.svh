// While the master's clock is not needed, no register in it changes; `busy` is 1 as long as a clock or the arbiter
// needs an edge. No other property of the block is proved.
// prove: induction 2 IN_LOG2=2
// mutants: enables
initial assume (rst);
always @(posedge clk)
  if (!$initstate && !$past(rst) && !rst) begin
    if (!$past(pci_gated_needed[myri_pci_pkg::SIDE_MASTER])) assert ($stable(share_q));
    assert (busy || !(arbiter_busy || cpu_valid || cpu_needed || master_needed || target_needed || inbound_needed));
    if (!pci_gated_needed[myri_pci_pkg::SIDE_TARGET]) assert (!target_needed && !inbound_needed);
    if (!pci_gated_needed[myri_pci_pkg::SIDE_MASTER]) assert (!cpu_needed && !master_needed);
  end
