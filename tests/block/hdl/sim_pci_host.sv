// PCI segment with two cards, CPU port, memory port and the cards' backends brought out, for the bridge and segment
// benches; with BRIDGE the second card is behind a PCI-to-PCI bridge, on a bus with its own clock.
`include "sim_pci_backend.svh"
module sim_pci_host
  import myri_pci_pkg::*;
  import myri_settings_pkg::*;
#(
    parameter int BRIDGE = 0  // 1 = card 1 is behind a PCI-to-PCI bridge
) (
    input logic clk,  // PCI clock
    input logic far_clk,  // clock of the bus behind the bridge
    input logic rst,  // synchronous, active high
    input host_bridge_settings_t cfg,  // configuration of the bridge
    input logic [1:0] wide_cards,  // 64-bit cards
    input logic [1:0] inta,  // cards pull INTA#
    input pci_card_settings_t card,  // of the cards, base and wide apart
    input logic card_target_abort,  // as the cores, both cards
    `include "sim_host_ports.svh"
`PCI_BACKEND_PORTS(c0_)
    `PCI_BACKEND_PORTS(c1_)
    `include "sim_pci_ports.svh"
    output logic [2:0] pci_req_n,  // requests
    output logic [2:0] pci_gnt_n,  // grants
    output logic pci_conflict,  // two drivers on one wire
    output logic intr,  // interrupt
    output logic idle_out,  // stores done
    output logic idle_in,  // DMA writes in memory
    output logic tr_pio_accept,  // as the bridge
    output logic tr_pio_start,  // as the bridge
    output logic tr_pio_done,  // as the bridge
    output logic tr_pio_error,  // as the bridge
    output logic tr_dma_first,  // as the bridge
    output logic tr_dma_last,  // as the bridge
    output logic tr_dma_write,  // as the bridge
    output logic ev_retry,  // as the bridge
    output logic ev_disconnect,  // as the bridge
    output logic [63:0] far_ad,  // resolved wire of the far bus
    output logic [7:0] far_cbe,  // resolved wire of the far bus
    output logic far_par,  // resolved wire of the far bus
    output logic far_par64,  // resolved wire of the far bus
    output logic far_frame_n,  // resolved wire of the far bus
    output logic far_irdy_n,  // resolved wire of the far bus
    output logic far_trdy_n,  // resolved wire of the far bus
    output logic far_devsel_n,  // resolved wire of the far bus
    output logic far_stop_n,  // resolved wire of the far bus
    output logic far_req64_n,  // resolved wire of the far bus
    output logic far_ack64_n,  // resolved wire of the far bus
    output logic [1:0] far_req_n,  // its requests
    output logic [1:0] far_gnt_n,  // its grants
    output logic far_conflict,  // two drivers on one wire of it
    output logic lost,  // an abort behind or before the bridge, ever
    output logic [31:0] count_data,  // clocks that moved data
    output logic [31:0] count_busy,  // busy clocks
    output logic busy  // needs clock edges
);
  logic [2*PCI_IN_BITS-1:0] slot_in;
  logic [2*PCI_OUT_BITS-1:0] slot_out;
  pci_wires_t wires;
  logic [47:0] cycle;
  logic [1:0] card_busy;
  logic segment_busy, m66en, bridge_busy, far_busy, c1_clk;
  logic [47:0] c1_cycle_q;
  pci_in_t c1_in;
  pci_out_t c1_out;
  assign busy = segment_busy | (card_busy != 2'd0) | bridge_busy | far_busy;
  sim_pci_wires u_wires (.*);

  always_ff @(posedge clk) cycle <= rst ? 48'd0 : cycle + 48'd1;

  host_bridge_trace_t trace;
  assign {tr_pio_accept, tr_pio_start, tr_pio_done, tr_pio_error} = {
    trace.pio_accept, trace.pio_start, trace.pio_done, trace.pio_error
  };
  assign {tr_dma_first, tr_dma_last, tr_dma_write} = {
    trace.dma_first, trace.dma_last, trace.dma_write
  };
  assign {ev_retry, ev_disconnect} = {trace.retry, trace.disconnect};
  myri_pci_segment #(
      .SLOTS(2)
  ) u_segment (
      .*,
      .pci_gated_clk({PCI_SIDES{clk}}),
      .pci_gated_needed(),
      .slot_present(2'b11),
      .grants_n(pci_gnt_n),
      .requests_n(pci_req_n),
      .conflict(pci_conflict),
      .busy(segment_busy)
  );
  sim_pci_card u_card0 (
      .*,
      .pci_in(slot_in[PCI_IN_BITS*0+:PCI_IN_BITS]),
      .pci_out(slot_out[PCI_OUT_BITS*0+:PCI_OUT_BITS]),
      .base(32'hE000_0000),
      .inta(inta[0]),
      .cfg_wide(wide_cards[0]),
      .tw_valid(c0_tw_valid),
      .tw_ready(c0_tw_ready),
      .tw_addr(c0_tw_addr),
      .tw_data(c0_tw_data),
      .tw_be(c0_tw_be),
      .tread_valid(c0_tread_valid),
      .tread_ready(c0_tread_ready),
      .tread_addr(c0_tread_addr),
      .tread_bytes(c0_tread_bytes),
      .td_valid(c0_td_valid),
      .td_data(c0_td_data),
      .mc_valid(c0_mc_valid),
      .mc_ready(c0_mc_ready),
      .mc_write(c0_mc_write),
      .mc_addr(c0_mc_addr),
      .mc_bytes(c0_mc_bytes),
      .mw_valid(c0_mw_valid),
      .mw_ready(c0_mw_ready),
      .mw_data(c0_mw_data),
      .mr_valid(c0_mr_valid),
      .mr_ready(c0_mr_ready),
      .mr_data(c0_mr_data),
      .m_done(c0_m_done),
      .m_error(c0_m_error),
      .busy(card_busy[0])
  );
  if (BRIDGE == 0) begin : gen_one_bus
    assign c1_clk = clk;
    assign c1_cycle_q = cycle;
    assign c1_in = slot_in[PCI_IN_BITS*1+:PCI_IN_BITS];
    assign slot_out[PCI_OUT_BITS*1+:PCI_OUT_BITS] = c1_out;
    assign {bridge_busy, far_busy, lost, far_conflict} = '0;
    assign {far_ad, far_cbe, far_par, far_par64, far_frame_n, far_irdy_n, far_trdy_n, far_devsel_n} = '1;
    assign {far_stop_n, far_req64_n, far_ack64_n, far_req_n, far_gnt_n} = '1;
  end else begin : gen_two_buses
    logic ev_lost, ev_far_lost;
    assign c1_clk = far_clk;
    always_ff @(posedge far_clk) c1_cycle_q <= rst ? 48'd0 : c1_cycle_q + 48'd1;
    sim_pci_far u_far (
        .*,
        .cfg_wide(cfg.wide),
        .far_cycle(c1_cycle_q),
        .pci_in(slot_in[PCI_IN_BITS*1+:PCI_IN_BITS]),
        .pci_out(slot_out[PCI_OUT_BITS*1+:PCI_OUT_BITS]),
        .card_in(c1_in),
        .card_out(c1_out)
    );
    always_ff @(posedge clk) lost <= !rst && (lost || ev_lost || ev_far_lost);
  end
  sim_pci_card u_card1 (
      .*,
      .clk(c1_clk),
      .cycle(c1_cycle_q),
      .pci_in(c1_in),
      .pci_out(c1_out),
      .base(32'hE100_0000),
      .inta(inta[1]),
      .cfg_wide(wide_cards[1]),
      .tw_valid(c1_tw_valid),
      .tw_ready(c1_tw_ready),
      .tw_addr(c1_tw_addr),
      .tw_data(c1_tw_data),
      .tw_be(c1_tw_be),
      .tread_valid(c1_tread_valid),
      .tread_ready(c1_tread_ready),
      .tread_addr(c1_tread_addr),
      .tread_bytes(c1_tread_bytes),
      .td_valid(c1_td_valid),
      .td_data(c1_td_data),
      .mc_valid(c1_mc_valid),
      .mc_ready(c1_mc_ready),
      .mc_write(c1_mc_write),
      .mc_addr(c1_mc_addr),
      .mc_bytes(c1_mc_bytes),
      .mw_valid(c1_mw_valid),
      .mw_ready(c1_mw_ready),
      .mw_data(c1_mw_data),
      .mr_valid(c1_mr_valid),
      .mr_ready(c1_mr_ready),
      .mr_data(c1_mr_data),
      .m_done(c1_m_done),
      .m_error(c1_m_error),
      .busy(card_busy[1])
  );

  logic unused;
  assign unused = &{1'b0, m66en, far_clk};
endmodule
