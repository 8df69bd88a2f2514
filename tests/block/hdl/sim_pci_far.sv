// PCI-to-PCI bridge with one card behind it, for the bench of segments: its settings, and the wires of the far bus as
// separate ports.
module sim_pci_far
  import myri_pci_pkg::*;
  import myri_settings_pkg::*;
(
    input logic clk,  // PCI clock
    input logic rst,  // synchronous, active high, both clocks
    input logic [47:0] cycle,  // index of the coming edge
    input pci_in_t pci_in,  // from the connector of the near bus
    output pci_out_t pci_out,  // to it
    input logic far_clk,  // clock of the far bus
    input logic [47:0] far_cycle,  // index of its coming edge
    output pci_in_t card_in,  // what the card on the far bus sees
    input pci_out_t card_out,  // what the card drives
    input logic cfg_wide,  // 64-bit near bus
    input logic [1:0] wide_cards,  // 64-bit cards; bit 1: far bus
    input pci_card_settings_t card,  // as the cores, both sides
    output logic [63:0] far_ad,  // AD
    output logic [7:0] far_cbe,  // C/BE#
    output logic far_par,  // PAR
    output logic far_par64,  // PAR64
    output logic far_frame_n,  // FRAME#
    output logic far_irdy_n,  // IRDY#
    output logic far_trdy_n,  // TRDY#
    output logic far_devsel_n,  // DEVSEL#
    output logic far_stop_n,  // STOP#
    output logic far_req64_n,  // REQ64#
    output logic far_ack64_n,  // ACK64#
    output logic [1:0] far_req_n,  // requests
    output logic [1:0] far_gnt_n,  // grants
    output logic far_conflict,  // two drivers on one wire
    output logic ev_lost,  // as myri_pci_bridge
    output logic ev_far_lost,  // as myri_pci_bridge
    output logic bridge_busy,  // near clock: another edge is needed
    output logic far_busy  // far clock: likewise
);
  pci_wires_t wires;
  pci_card_settings_t cfg;
  always_comb begin
    cfg = card;
    cfg.base = 32'hE000_0000;
    cfg.enabled = 1'b1;
    cfg.wide = cfg_wide;
    cfg.m66 = 1'b1;
  end

  pci_bridge_trace_t trace;
  assign {ev_lost, ev_far_lost} = trace;
  myri_pci_bridge #(
      .CARDS(1)
  ) u_bridge (
      .*,
      .busy(bridge_busy),
      .far_rst(rst),
      .slot_in(card_in),
      .slot_out(card_out),
      .slot_present(1'b1),
      .cfg_cdc_latency(4'd1),
      .cfg_far_wide(wide_cards[1]),
      .far_wires(wires),
      .in_flight(),
      .far_in_flight()
  );
  sim_pci_wires u_wires (
      .wires,
      .pci_ad(far_ad),
      .pci_cbe(far_cbe),
      .pci_par(far_par),
      .pci_par64(far_par64),
      .pci_frame_n(far_frame_n),
      .pci_irdy_n(far_irdy_n),
      .pci_trdy_n(far_trdy_n),
      .pci_devsel_n(far_devsel_n),
      .pci_stop_n(far_stop_n),
      .pci_req64_n(far_req64_n),
      .pci_ack64_n(far_ack64_n)
  );
endmodule
