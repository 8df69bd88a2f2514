// A clock whose coming edge a part needs gets it: the clock of each side of the PCI bus, of the bus, of each crossing
// on the NIC's side, and of the NIC.
// prove: bounded 1 free
// mutants: enables
always_comb begin
  if (card_needed[myri_pci_pkg::SIDE_TARGET] || near_busy.pio || near_busy.response)
    assert (pci_gated_needed[myri_pci_pkg::SIDE_TARGET]);
  if (card_needed[myri_pci_pkg::SIDE_MASTER] || near_busy.command || near_busy.write || near_busy.read)
    assert (pci_gated_needed[myri_pci_pkg::SIDE_MASTER]);
  if (near_busy != '0) assert (pci_busy);
  if (card_busy) assert (pci_busy);
  if (far_busy != '0) assert (busy);
  if (far_busy.pio || far_busy.response) assert (pio_needed);
  if (far_busy.command || far_busy.write || far_busy.read) assert (dma_needed);
  if (far_busy.irq) assert (intr_needed);
end
