// Shared wires of a PCI bus as separate ports, with the names that a bench's monitor expects.
module sim_pci_wires
  import myri_pci_pkg::*;
(
    input  pci_wires_t        wires,         // as myri_pci_bus
    output logic       [63:0] pci_ad,        // AD
    output logic       [ 7:0] pci_cbe,       // C/BE#
    output logic              pci_par,       // PAR
    output logic              pci_par64,     // PAR64
    output logic              pci_frame_n,   // FRAME#
    output logic              pci_irdy_n,    // IRDY#
    output logic              pci_trdy_n,    // TRDY#
    output logic              pci_devsel_n,  // DEVSEL#
    output logic              pci_stop_n,    // STOP#
    output logic              pci_req64_n,   // REQ64#
    output logic              pci_ack64_n    // ACK64#
);
  assign pci_ad = wires.ad;
  assign pci_cbe = wires.cbe;
  assign pci_par = wires.par;
  assign pci_par64 = wires.par64;
  assign pci_frame_n = wires.frame_n;
  assign pci_irdy_n = wires.irdy_n;
  assign pci_trdy_n = wires.trdy_n;
  assign pci_devsel_n = wires.devsel_n;
  assign pci_stop_n = wires.stop_n;
  assign pci_req64_n = wires.req64_n;
  assign pci_ack64_n = wires.ack64_n;
endmodule
