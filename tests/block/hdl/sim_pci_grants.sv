// Arbiter of a PCI bus whose masters are agents of sanlab.agents; the wires are inputs.
module sim_pci_grants (
    input logic clk,  // PCI clock
    input logic rst,  // synchronous, active high
    input logic [31:0] pci_ad_i,  // AD
    input logic [3:0] pci_cbe_i,  // C/BE#
    input logic pci_par_i,  // PAR
    input logic pci_frame_n_i,  // FRAME#
    input logic pci_irdy_n_i,  // IRDY#
    input logic pci_trdy_n_i,  // TRDY#
    input logic pci_devsel_n_i,  // DEVSEL#
    input logic pci_stop_n_i,  // STOP#
    input logic [1:0] pci_req_n,  // requests of the agents
    output logic [1:0] pci_gnt_n,  // grants
    output logic busy  // 1 = needs clock edges
);
  myri_pci_arbiter #(
      .AGENTS(2)
  ) u_arbiter (
      .clk,
      .rst,
      .frame_n(pci_frame_n_i),
      .irdy_n (pci_irdy_n_i),
      .req_n  (pci_req_n),
      .gnt_n  (pci_gnt_n),
      .busy
  );

  logic unused;
  assign unused = &{1'b0, pci_ad_i, pci_cbe_i, pci_par_i, pci_trdy_n_i, pci_devsel_n_i, pci_stop_n_i};
endmodule
