    // Shared wires of a PCI bus as separate ports, with the names that a bench's monitor expects.
    output logic [63:0] pci_ad,  // AD
    output logic [7:0] pci_cbe,  // C/BE#
    output logic pci_par,  // PAR
    output logic pci_par64,  // PAR64
    output logic pci_frame_n,  // FRAME#
    output logic pci_irdy_n,  // IRDY#
    output logic pci_trdy_n,  // TRDY#
    output logic pci_devsel_n,  // DEVSEL#
    output logic pci_stop_n,  // STOP#
    output logic pci_req64_n,  // REQ64#
    output logic pci_ack64_n,  // ACK64#
