// A clock whose coming edge a part needs gets it: the clock of each side of the PCI bus, of the bus, of each crossing
// on the NIC's side, and of the NIC.
// prove: bounded 1 free
// mutants: enables
always_comb begin
  if (card_needed[myri_pci_pkg::SIDE_TARGET] || near_busy[0] || near_busy[1])
    assert (pci_gated_needed[myri_pci_pkg::SIDE_TARGET]);
  if (card_needed[myri_pci_pkg::SIDE_MASTER] || near_busy[2] || near_busy[3] || near_busy[4])
    assert (pci_gated_needed[myri_pci_pkg::SIDE_MASTER]);
  for (int i = 0; i < 6; i++) if (near_busy[i]) assert (pci_busy);
  if (card_busy) assert (pci_busy);
  for (int i = 0; i < 6; i++) if (far_busy[i]) assert (busy && (i < 2 ? pio_needed : i < 5 ? dma_needed : intr_needed));
end
