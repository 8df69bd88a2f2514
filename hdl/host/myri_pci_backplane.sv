// Shared part of a PCI segment: bus wires and CARDS connectors, beside the segment's own agent (the bridge, agent 0).
//
// An empty connector drives nothing, whatever its pin struct contains. Connector k sees its IDSEL on AD[16+k].
// Timing: see myri_pci_bus.
module myri_pci_backplane
  import myri_pci_pkg::*;
#(
    parameter int CARDS = 1  // connectors, 1..8
) (
    input logic clk,  // PCI clock
    input logic rst,  // synchronous, active high
    input pci_out_t own_out,  // wires that the bridge drives
    output pci_in_t own_in,  // what the agent sees
    input logic [PCI_OUT_BITS*CARDS-1:0] slot_out,  // what the card in each connector drives, connector 0 lowest
    output logic [PCI_IN_BITS*CARDS-1:0] slot_in,  // what the agent sees
    input logic [CARDS-1:0] slot_present,  // a card is in the slot
    input logic [CARDS:0] gnt_n,  // GNT# of every agent
    output logic [CARDS:0] req_n,  // REQ# of every agent
    output logic [CARDS:0] inta_n,  // INTA# of every agent
    output pci_wires_t wires,  // resolved shared wires
    output logic conflict,  // two agents drive one wire
    output logic [31:0] count_data,  // clocks that moved data
    output logic [31:0] count_busy,  // clocks with a transaction on the bus
    output logic busy  // 1 = a further clock edge is needed
);
  logic [PCI_OUT_BITS*CARDS-1:0] cards_out;

  for (genvar k = 0; k < CARDS; k++) begin : gen_slot
    pci_out_t card_out;
    assign card_out = slot_out[PCI_OUT_BITS*k+:PCI_OUT_BITS];
    assign cards_out[PCI_OUT_BITS*k+:PCI_OUT_BITS] = slot_present[k] ? card_out : PCI_NOTHING;
  end

  myri_pci_bus #(
      .AGENTS(CARDS + 1)
  ) u_bus (
      .clk,
      .rst,
      .gnt_n,
      .req_n,
      .inta_n,
      .wires,
      .conflict,
      .count_data,
      .count_busy,
      .busy,
      .agent_out({cards_out, own_out}),
      .agent_in ({slot_in, own_in})
  );
endmodule
