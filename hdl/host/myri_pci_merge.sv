// Merges the pins of one device's target and master into the pin struct of its connector.
// Combinational. The two cores never drive one signal in the same clock, because a device is master or target, not
// both.
module myri_pci_merge
  import myri_pci_pkg::*;
(
    input  pci_out_t a_out,   // first core (target)
    input  pci_out_t b_out,   // second core (master)
    input  logic     inta,    // 1 = pull INTA# down
    input  logic     m66,     // 1 = device can run at 66 MHz
    output pci_out_t pci_out  // pins of the connector
);
  // A core supplies ones on wires that it does not drive, so the drive half is joined by an AND. One concatenation in
  // the order of pci_out_t: event-driven simulators pay per assignment.
  assign pci_out = {
    m66, ~inta, a_out.req_n & b_out.req_n, a_out.enables | b_out.enables, a_out.wires & b_out.wires
  };

  logic unused;
  assign unused = &{1'b0, a_out.inta_n, b_out.inta_n, a_out.m66, b_out.m66};
endmodule
