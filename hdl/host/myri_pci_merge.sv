// Joins the pins of one device's target and master into the one `out` bundle of its connector.
// Combinational. The two cores never drive one signal in one clock (a device is master or target, not both).
module myri_pci_merge
  import myri_pci_pkg::*;
(
    input  logic [PCI_OUT_BITS-1:0] a_out,   // first core (target)
    input  logic [PCI_OUT_BITS-1:0] b_out,   // second core (master)
    input  logic                    inta,    // 1 = pull INTA# down
    input  logic                    m66,     // 1 = device can run at 66 MHz
    output logic [PCI_OUT_BITS-1:0] pci_out  // bundle of the connector
);
  // A core gives ones on wires it does not drive, so the join of the drive half is an AND.
  assign pci_out[PCI_WIRES-1:0] = a_out[PCI_WIRES-1:0] & b_out[PCI_WIRES-1:0];
  assign pci_out[PCI_OE+:PCI_ENABLES] = a_out[PCI_OE+:PCI_ENABLES] | b_out[PCI_OE+:PCI_ENABLES];
  assign pci_out[PCI_REQ_N] = a_out[PCI_REQ_N] & b_out[PCI_REQ_N];
  assign pci_out[PCI_INTA_N] = ~inta;
  assign pci_out[PCI_M66] = m66;

  logic unused;
  assign unused = &{1'b0, a_out[PCI_INTA_N], b_out[PCI_INTA_N], a_out[PCI_M66], b_out[PCI_M66]};
endmodule
