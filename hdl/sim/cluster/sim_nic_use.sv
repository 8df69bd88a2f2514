// Utilisation of a NIC's memory, of its PCI bus and of its slack buffer.
module sim_nic_use
  import myri_nic_trace_pkg::*;
  import myri_pci_pkg::*;
  import sim_trace_pkg::*;
#(
    parameter int BASE      = 0,  // first unit number of the node
    parameter int CLOCK_NIC = 0,  // index of the NIC clock
    parameter int CLOCK_PCI = 0   // index of the PCI clock
) (
    input logic rst,
    input logic mem_clk,  // NIC clock; needed are edges with used /= 0
    input logic [1:0] used,  // accesses of the memory in this clock
    input logic pci_clk,
    input pci_in_t pci_in,
    input logic link_clk,
    input link_trace_t link_trace,  // link_clk: of the link
    output logic busy  // link clock: 1 = a further edge is needed
);
  logic bus_used, bus_data;
  sim_use #(
      .UNIT (BASE + PART_SRAM),
      .EVENT(EV_SRAM_USE),
      .CLOCK(CLOCK_NIC)
  ) sram_use (
      .clk (mem_clk),
      .rst,
      .used,
      .also(2'd0)
  );
  assign bus_used = !(pci_in.wires.frame_n && pci_in.wires.irdy_n);
  assign bus_data = !pci_in.wires.irdy_n && !pci_in.wires.trdy_n;
  sim_use #(
      .UNIT(BASE + PART_PCI),
      .EVENT(EV_PCI_USE),
      .CLOCK(CLOCK_PCI),
      .WINDOW_LOG2(9)
  ) pci_use (
      .clk (pci_clk),
      .rst,
      .used({1'b0, bus_used}),
      .also({1'b0, bus_data})
  );
  sim_fill #(
      .UNIT(BASE + PART_LINK)
  ) slack_fill (
      .clk (link_clk),
      .rst,
      .held(link_trace.fill),
      .busy
  );
endmodule
