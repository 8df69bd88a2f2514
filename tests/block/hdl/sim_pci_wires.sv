// The shared wires of a PCI bus one by one, under the names that a bench's monitor looks for.
module sim_pci_wires
  import myri_pci_pkg::*;
(
    input  logic [PCI_WIRES-1:0] wires,         // as myri_pci_bus
    output logic [         63:0] pci_ad,        // AD
    output logic [          7:0] pci_cbe,       // C/BE#
    output logic                 pci_par,       // PAR
    output logic                 pci_par64,     // PAR64
    output logic                 pci_frame_n,   // FRAME#
    output logic                 pci_irdy_n,    // IRDY#
    output logic                 pci_trdy_n,    // TRDY#
    output logic                 pci_devsel_n,  // DEVSEL#
    output logic                 pci_stop_n,    // STOP#
    output logic                 pci_req64_n,   // REQ64#
    output logic                 pci_ack64_n    // ACK64#
);
  assign pci_ad = wires[PCI_AD+:64];
  assign pci_cbe = wires[PCI_CBE+:8];
  assign pci_par = wires[PCI_PAR];
  assign pci_par64 = wires[PCI_PAR64];
  assign pci_frame_n = wires[PCI_FRAME_N];
  assign pci_irdy_n = wires[PCI_IRDY_N];
  assign pci_trdy_n = wires[PCI_TRDY_N];
  assign pci_devsel_n = wires[PCI_DEVSEL_N];
  assign pci_stop_n = wires[PCI_STOP_N];
  assign pci_req64_n = wires[PCI_REQ64_N];
  assign pci_ack64_n = wires[PCI_ACK64_N];
endmodule
