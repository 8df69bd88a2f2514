// Common simulation logic of a node's NIC, of any kind: run-time settings, trace points, invariants, and utilisation of
// its memory, bus and slack buffer.
module sim_nic_watch
  import myri_nic_engines_pkg::*;
  import myri_nic_trace_pkg::*;
  import myri_pci_pkg::*;
  import myri_settings_pkg::*;
  import sim_settings_pkg::*;
#(
    parameter int BASE       = 0,  // first unit number of the node, and its settings unit
    parameter int CLOCK_NIC  = 0,  // index of the NIC clock
    parameter int CLOCK_LINK = 0,  // index of the link clock
    parameter int CLOCK_PCI  = 0   // index of the PCI clock
) (
    input logic rst,
    input logic setup_gated_clk,  // clock of the settings: runs in reset only
    output nic_settings_t cfg,
    input logic [ENGINES-1:0] nic_gated_clk,  // NIC clock of each engine
    input logic link_clk,
    input logic pci_clk,
    input nic_trace_t trace,
    input logic [1:0] used,  // accesses of the memory in this clock
    input pci_in_t pci_in,
    output logic busy  // link clock: 1 = a further edge is needed
);
  logic use_busy, trace_busy;
  assign busy = use_busy | trace_busy;
  always_ff @(posedge setup_gated_clk) if (rst) cfg <= nic_settings(BASE);
  sim_nic_trace #(
      .BASE(BASE),
      .CLOCK_NIC(CLOCK_NIC),
      .CLOCK_LINK(CLOCK_LINK)
  ) points (
      .rst,
      .nic_gated_clk,
      .link_clk,
      .send_trace(trace.net.send),
      .recv_trace(trace.net.recv),
      .dma_trace(trace.host.dma),
      .pio_trace(trace.host.pio),
      .link_trace(trace.net.link),
      .busy(trace_busy)
  );
  sim_nic_invariants #(
      .BASE(BASE)
  ) invariants (
      .rst,
      .nic_gated_clk,
      .link_clk,
      .link_trace(trace.net.link),
      .status(trace.status)
  );
  sim_nic_use #(
      .BASE(BASE),
      .CLOCK_NIC(CLOCK_NIC),
      .CLOCK_PCI(CLOCK_PCI)
  ) use_of (
      .rst,
      .used,
      .pci_clk,
      .pci_in,
      .link_clk,
      .link_trace(trace.net.link),
      .mem_clk(nic_gated_clk[ENGINE_SRAM]),
      .busy(use_busy)
  );
endmodule
