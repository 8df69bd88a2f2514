// Wires of a PCI bus by name, for cocotb tests of a cluster. No behaviour of its own.
module sim_pci_names
  import myri_pci_pkg::*;
(
    input logic clk,
    input logic [PCI_WIRES-1:0] wires  // pci_wires_t, as resolved
);
  pci_wires_t bus;
  logic frame_n, irdy_n, trdy_n, stop_n, devsel_n, req64_n, ack64_n, perr_n, serr_n, par, par64;
  logic [ 7:0] cbe;
  logic [63:0] ad;
  assign bus = wires;
  assign frame_n = bus.frame_n;
  assign irdy_n = bus.irdy_n;
  assign trdy_n = bus.trdy_n;
  assign stop_n = bus.stop_n;
  assign devsel_n = bus.devsel_n;
  assign req64_n = bus.req64_n;
  assign ack64_n = bus.ack64_n;
  assign perr_n = bus.perr_n;
  assign serr_n = bus.serr_n;
  assign par = bus.par;
  assign par64 = bus.par64;
  assign cbe = bus.cbe;
  assign ad = bus.ad;

  logic unused;
  assign unused = &{1'b0, clk, frame_n, irdy_n, trdy_n, stop_n, devsel_n, req64_n, ack64_n, perr_n, serr_n, par, par64,
      cbe, ad};
endmodule
