// Samples of a PCI bus for a monitor in Python (tb/monitors/pci.py).
module sim_pci_monitor
  import myri_pci_pkg::*;
#(
    parameter int UNIT   = 0,  // unit number of the samples
    parameter int AGENTS = 2   // 16 at most
) (
    input logic clk,  // PCI clock
    input logic rst,
    input pci_wires_t wires,  // resolved wires of the bus
    input logic [AGENTS-1:0] grants_n,  // GNT# of every agent
    input logic [AGENTS-1:0] requests_n,  // REQ# of every agent
    input logic conflict,  // two agents drive one wire
    output logic busy  // 1 = a further clock edge is needed
);
  logic [127:0] seen;
  logic [15:0] granted, requested;
  assign granted = {{(16 - AGENTS) {1'b0}}, ~grants_n};
  assign requested = {{(16 - AGENTS) {1'b0}}, ~requests_n};
  assign seen = {~requested, ~granted, 8'd0, conflict, 4'd0, wires};
  sim_monitor #(
      .UNIT(UNIT)
  ) monitor (
      .clk,
      .rst,
      .wires(seen),
      .ends (wires.frame_n),
      .busy
  );
endmodule
