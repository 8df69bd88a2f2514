// The configuration space runs on the target's clock and is written only while that clock is needed, so it does not
// change otherwise. `busy` is 1 as long as one of the clocks is needed. No other property of the block is proved, which
// has no register of its own.
// prove: induction 2
// mutants: enables
initial assume (rst);
always @(posedge pci_gated_clk[myri_pci_pkg::SIDE_TARGET])
  if (!$initstate && !$past(rst) && !rst) begin
    if (!pci_gated_needed[myri_pci_pkg::SIDE_TARGET]) assert (!cs_write);
    if (!$past(pci_gated_needed[myri_pci_pkg::SIDE_TARGET]))
      assert ($stable(bar_base) && $stable(mem_enable) && $stable(master_enable) && $stable(latency_timer));
    assert (busy || pci_gated_needed == '0);
    assert (busy == (target_busy || master_busy));
  end
