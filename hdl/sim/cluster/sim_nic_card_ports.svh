    // Ports of a NIC card in a node, the same for every kind of NIC: connected by `sim_node`.
    input logic rst,
    input logic setup_gated_clk,  // clock of the settings: runs in reset only
    input logic clk,
    input logic [ENGINES-1:0] nic_gated_clk,  // see myri_nic_engines_pkg
    output logic [ENGINES-1:0] nic_gated_needed,
    input logic [47:0] cycle,
    input logic refresh,  // rises before the first edge of clk after a sleep
    output logic busy,  // 1 = a further clock edge is needed
    output alarm_t alarm,
    output logic in_flight,  // the NIC is active
    input logic link_clk,
    input logic [HALVES-1:0] link_gated_clk,  // see myri_nic_engines_pkg
    output logic [HALVES-1:0] link_gated_needed,
    input logic [47:0] link_cycle,
    output logic link_busy,
    output alarm_t link_alarm,
    output logic link_in_flight,  // a packet is partly sent or received
    input logic pci_clk,
    input logic [PCI_SIDES-1:0] pci_gated_clk,  // see myri_pci_pkg
    output logic [PCI_SIDES-1:0] pci_gated_needed,
    input logic [47:0] pci_cycle,
    output logic pci_busy,
    input logic [8:0] rx,
    input logic stop_lasts,  // see myri_link_port
    output logic [8:0] tx,
    input pci_in_t pci_in,
    output pci_out_t pci_out
