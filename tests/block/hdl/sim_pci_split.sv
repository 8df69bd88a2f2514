// PCI card with the wires of its connector as inputs, outputs and enables, as the agents of sanlab.agents bind them.
`include "sim_pci_backend.svh"
module sim_pci_split
  import myri_pci_pkg::*;
  import myri_settings_pkg::*;
#(
    parameter int WIDTH = 64  // bits of AD: 32 or 64
) (
    input logic clk,  // PCI clock
    input logic rst,  // synchronous, active high
    input logic [31:0] base,  // BAR0 after reset
    input pci_card_settings_t card,  // settings
    input logic card_target_abort,  // see myri_pci_target
    `PCI_BACKEND_PORTS()
    input logic [WIDTH-1:0] pci_ad_i,  // AD
    output logic [WIDTH-1:0] pci_ad_o,  // AD
    output logic [WIDTH/32-1:0] pci_ad_oe,  // one bit for each 32
    input logic [WIDTH/8-1:0] pci_cbe_i,  // C/BE#
    output logic [WIDTH/8-1:0] pci_cbe_o,  // C/BE#
    output logic [WIDTH/32-1:0] pci_cbe_oe,  // one bit for each 4
    input logic pci_par_i,  // PAR
    output logic pci_par_o,  // PAR
    output logic pci_par_oe,  // PAR
    input logic pci_par64_i,  // PAR64
    output logic pci_par64_o,  // PAR64
    output logic pci_par64_oe,  // PAR64
    input logic pci_frame_n_i,  // FRAME#
    output logic pci_frame_n_o,  // FRAME#
    output logic pci_frame_n_oe,  // FRAME#
    input logic pci_irdy_n_i,  // IRDY#
    output logic pci_irdy_n_o,  // IRDY#
    output logic pci_irdy_n_oe,  // IRDY#
    input logic pci_trdy_n_i,  // TRDY#
    output logic pci_trdy_n_o,  // TRDY#
    output logic pci_trdy_n_oe,  // TRDY#
    input logic pci_devsel_n_i,  // DEVSEL#
    output logic pci_devsel_n_o,  // DEVSEL#
    output logic pci_devsel_n_oe,  // DEVSEL#
    input logic pci_stop_n_i,  // STOP#
    output logic pci_stop_n_o,  // STOP#
    output logic pci_stop_n_oe,  // STOP#
    input logic pci_req64_n_i,  // REQ64#
    output logic pci_req64_n_o,  // REQ64#
    output logic pci_req64_n_oe,  // REQ64#
    input logic pci_ack64_n_i,  // ACK64#
    output logic pci_ack64_n_o,  // ACK64#
    output logic pci_ack64_n_oe,  // ACK64#
    input logic pci_perr_n_i,  // PERR#
    input logic pci_serr_n_i,  // SERR#
    output logic pci_req_n,  // REQ#
    input logic pci_gnt_n,  // GNT#
    input logic pci_idsel,  // IDSEL
    output logic busy  // 1 = a transaction is unfinished
);
  localparam bit WIDE = WIDTH == 64;
  logic [47:0] cycle;
  pci_in_t pci_in;
  pci_out_t pci_out;
  pci_wires_t driven, seen;
  pci_enables_t on;
  assign driven = pci_out.wires;
  assign on = pci_out.enables;

  always_ff @(posedge clk) cycle <= rst ? 48'd0 : cycle + 48'd1;

  assign seen.serr_n = pci_serr_n_i;
  assign seen.perr_n = pci_perr_n_i;
  assign seen.ack64_n = pci_ack64_n_i;
  assign seen.req64_n = pci_req64_n_i;
  assign seen.stop_n = pci_stop_n_i;
  assign seen.devsel_n = pci_devsel_n_i;
  assign seen.trdy_n = pci_trdy_n_i;
  assign seen.irdy_n = pci_irdy_n_i;
  assign seen.frame_n = pci_frame_n_i;
  assign seen.par64 = pci_par64_i;
  assign seen.par = pci_par_i;
  assign seen.cbe = {{(8 - WIDTH / 8) {1'b1}}, pci_cbe_i};
  assign seen.ad = {{(64 - WIDTH) {1'b1}}, pci_ad_i};
  assign pci_in = {1'b1, pci_idsel, pci_gnt_n, seen};

  assign {pci_ad_o, pci_cbe_o} = {driven.ad[WIDTH-1:0], driven.cbe[WIDTH/8-1:0]};
  if (WIDE) begin : gen_wide
    assign pci_ad_oe  = {on.ad_hi, on.ad_lo};
    assign pci_cbe_oe = {on.cbe_hi, on.cbe_lo};
  end else begin : gen_narrow
    assign pci_ad_oe  = on.ad_lo;
    assign pci_cbe_oe = on.cbe_lo;
  end
  assign {pci_par_o, pci_par_oe} = {driven.par, on.par};
  assign {pci_par64_o, pci_par64_oe} = {driven.par64, on.par64};
  assign {pci_frame_n_o, pci_frame_n_oe} = {driven.frame_n, on.frame};
  assign {pci_irdy_n_o, pci_irdy_n_oe} = {driven.irdy_n, on.irdy};
  assign {pci_trdy_n_o, pci_trdy_n_oe} = {driven.trdy_n, on.trdy};
  assign {pci_devsel_n_o, pci_devsel_n_oe} = {driven.devsel_n, on.devsel};
  assign {pci_stop_n_o, pci_stop_n_oe} = {driven.stop_n, on.stop};
  assign {pci_req64_n_o, pci_req64_n_oe} = {driven.req64_n, on.req64};
  assign {pci_ack64_n_o, pci_ack64_n_oe} = {driven.ack64_n, on.ack64};
  assign pci_req_n = pci_out.req_n;

  sim_pci_card u_card (
      .*,
      .inta(1'b0),
      .cfg_wide(WIDE)
  );

  logic unused;
  assign unused = &{1'b0, pci_out, driven, on};
endmodule
