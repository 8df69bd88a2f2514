// Transparent PCI-to-PCI bridge with its far segment: bus, arbiter, CARDS connectors. Each bus has its own clock and
// width, so a slow card on the far bus does not slow the near bus.
//
// On the near bus the bridge answers for a window of 2**BAR_LOG2 bytes without its first 2**HOLE_LOG2 bytes, on the far
// bus for all other addresses. The far arbiter parks on the bridge. Posting, prefetching and ordering: see
// myri_pci_pass.
module myri_pci_bridge
  import myri_pci_pkg::*;
  import myri_settings_pkg::*;
#(
    parameter int CARDS = 2,  // connectors on the far bus
    parameter int BAR_LOG2 = 26,  // bytes of the window = 2**BAR_LOG2
    parameter int HOLE_LOG2 = 24  // of which the first 2**HOLE_LOG2 are on the near side
) (
    input logic clk,  // clock of the near bus
    input logic rst,  // synchronous, active high
    input logic [47:0] cycle,  // index of the coming edge
    output logic busy,  // 1 = a further clock edge is needed
    input pci_in_t pci_in,  // resolved wires of its connector
    output pci_out_t pci_out,  // drives and enables
    input logic far_clk,  // clock of the far bus
    input logic far_rst,  // synchronous, active high
    input logic [47:0] far_cycle,  // index of the coming edge
    output logic far_busy,  // 1 = a further clock edge is needed
    output logic [PCI_IN_BITS*CARDS-1:0] slot_in,  // what the card in each far connector sees
    input logic [PCI_OUT_BITS*CARDS-1:0] slot_out,  // what the card drives
    input logic [CARDS-1:0] slot_present,  // a card is in the slot
    input pci_card_settings_t cfg,  // on the near bus
    input logic [3:0] cfg_cdc_latency,  // latency of the crossings
    input logic cfg_far_wide,  // far bus: 64 bits
    output pci_wires_t far_wires,  // resolved wires of the far bus, for a monitor
    output logic [CARDS:0] far_req_n,  // REQ# of every agent of it, for a monitor
    output logic [CARDS:0] far_gnt_n,  // GNT# of every agent of it, for a monitor
    output logic far_conflict,  // two agents drive one wire of it
    output pci_bridge_trace_t trace,  // events of both buses
    output logic in_flight,  // near clock: 1 = a transfer is unfinished
    output logic far_in_flight  // far clock: 1 = a transfer is unfinished
);
  // ---------------------------------------------------------------- near bus: a device; far bus: a device, bus, arbiter
  logic n_tw_valid, n_tw_ready, n_tread_valid, n_tread_ready, n_td_valid;
  logic n_mc_valid, n_mc_ready, n_mw_valid, n_mw_ready, n_mr_valid, n_mr_ready;
  logic n_done, n_error, n_busy, n_master_enable;
  pci_device_trace_t n_trace, f_trace;
  pci_write_t n_tw;
  pci_read_t n_tread;
  pci_transfer_t n_mc;
  logic [63:0] n_td_data, n_mw_data, n_mr_data;
  logic f_tw_valid, f_tw_ready, f_tread_valid, f_tread_ready, f_td_valid;
  logic f_mc_valid, f_mc_ready, f_mw_valid, f_mw_ready, f_mr_valid, f_mr_ready;
  logic f_done, f_error, f_busy, f_master_enable;
  pci_write_t f_tw;
  pci_read_t f_tread;
  pci_transfer_t f_mc;
  logic [63:0] f_td_data, f_mw_data, f_mr_data;
  logic bus_busy, arbiter_busy;
  pci_in_t far_in;
  pci_out_t far_out;
  logic [CARDS:0] inta_n;
  logic [31:0] count_data, count_busy;

  pci_card_settings_t far;  // as on the near bus, which may be wider or slower
  always_comb far = {cfg.master, cfg.target, cfg.base, cfg.enabled, cfg_far_wide, 1'b1};
  myri_pci_device #(
      .VENDOR(32'h4357),
      .DEVICE(32'h00B2),
      .CLASS_REV(32'h0604_0000),
      .BAR_LOG2(BAR_LOG2),
      .HOLE_LOG2(HOLE_LOG2)
  ) u_near (
      .rst,
      .cycle,
      .pci_in,
      .pci_out,
      .cfg,
      .pci_gated_clk({PCI_SIDES{clk}}),
      .pci_gated_needed(),
      .inta(1'b0),
      .master_enable(n_master_enable),
      .tw_valid(n_tw_valid),
      .tw_ready(n_tw_ready),
      .tw(n_tw),
      .tread_valid(n_tread_valid),
      .tread_ready(n_tread_ready),
      .tread(n_tread),
      .td_valid(n_td_valid),
      .td_data(n_td_data),
      .trace(n_trace),
      .mc_valid(n_mc_valid),
      .mc_ready(n_mc_ready),
      .mc(n_mc),
      .mw_valid(n_mw_valid),
      .mw_ready(n_mw_ready),
      .mw_data(n_mw_data),
      .mr_valid(n_mr_valid),
      .mr_ready(n_mr_ready),
      .mr_data(n_mr_data),
      .m_done(n_done),
      .m_error(n_error),
      .busy(n_busy)
  );
  myri_pci_device #(
      .VENDOR(32'h4357),
      .DEVICE(32'h00B2),
      .CLASS_REV(32'h0604_0000),
      .BAR_LOG2(BAR_LOG2),
      .HOLE_LOG2(HOLE_LOG2),
      .OUTSIDE(1)
  ) u_far (
      .pci_gated_clk({PCI_SIDES{far_clk}}),
      .pci_gated_needed(),
      .rst(far_rst),
      .cycle(far_cycle),
      .pci_in(far_in),
      .pci_out(far_out),
      .cfg(far),
      .inta(1'b0),
      .master_enable(f_master_enable),
      .tw_valid(f_tw_valid),
      .tw_ready(f_tw_ready),
      .tw(f_tw),
      .tread_valid(f_tread_valid),
      .tread_ready(f_tread_ready),
      .tread(f_tread),
      .td_valid(f_td_valid),
      .td_data(f_td_data),
      .trace(f_trace),
      .mc_valid(f_mc_valid),
      .mc_ready(f_mc_ready),
      .mc(f_mc),
      .mw_valid(f_mw_valid),
      .mw_ready(f_mw_ready),
      .mw_data(f_mw_data),
      .mr_valid(f_mr_valid),
      .mr_ready(f_mr_ready),
      .mr_data(f_mr_data),
      .m_done(f_done),
      .m_error(f_error),
      .busy(f_busy)
  );

  myri_pci_backplane #(
      .CARDS(CARDS)
  ) u_backplane (
      .slot_out,
      .slot_in,
      .slot_present,
      .inta_n,
      .count_data,
      .count_busy,
      .clk(far_clk),
      .rst(far_rst),
      .own_out(far_out),
      .own_in(far_in),
      .gnt_n(far_gnt_n),
      .req_n(far_req_n),
      .wires(far_wires),
      .conflict(far_conflict),
      .busy(bus_busy)
  );
  myri_pci_arbiter #(
      .AGENTS(CARDS + 1)
  ) u_arbiter (
      .clk(far_clk),
      .rst(far_rst),
      .frame_n(far_wires.frame_n),
      .irdy_n(far_wires.irdy_n),
      .req_n(far_req_n),
      .gnt_n(far_gnt_n),
      .busy(arbiter_busy)
  );

  // ---------------------------------------------------------------- both directions
  logic down_s_busy, down_m_busy, up_s_busy, up_m_busy;
  logic [7:0] down_opened, down_done, up_opened, up_done;
  myri_pci_pass u_down (
      .cfg_latency(cfg_cdc_latency),
      .s_clk(clk),
      .s_rst(rst),
      .tw_valid(n_tw_valid),
      .tw_ready(n_tw_ready),
      .tw(n_tw),
      .tread_valid(n_tread_valid),
      .tread_ready(n_tread_ready),
      .tread(n_tread),
      .td_valid(n_td_valid),
      .td_data(n_td_data),
      .opened(down_opened),
      .back_done(up_done),
      .s_busy(down_s_busy),
      .m_clk(far_clk),
      .m_rst(far_rst),
      .mc_valid(f_mc_valid),
      .mc_ready(f_mc_ready),
      .mc(f_mc),
      .mw_valid(f_mw_valid),
      .mw_ready(f_mw_ready),
      .mw_data(f_mw_data),
      .mr_valid(f_mr_valid),
      .mr_ready(f_mr_ready),
      .mr_data(f_mr_data),
      .m_done(f_done),
      .done(down_done),
      .back_opened(up_opened),
      .m_busy(down_m_busy)
  );
  myri_pci_pass u_up (
      .cfg_latency(cfg_cdc_latency),
      .s_clk(far_clk),
      .s_rst(far_rst),
      .tw_valid(f_tw_valid),
      .tw_ready(f_tw_ready),
      .tw(f_tw),
      .tread_valid(f_tread_valid),
      .tread_ready(f_tread_ready),
      .tread(f_tread),
      .td_valid(f_td_valid),
      .td_data(f_td_data),
      .opened(up_opened),
      .back_done(down_done),
      .s_busy(up_s_busy),
      .m_clk(clk),
      .m_rst(rst),
      .mc_valid(n_mc_valid),
      .mc_ready(n_mc_ready),
      .mc(n_mc),
      .mw_valid(n_mw_valid),
      .mw_ready(n_mw_ready),
      .mw_data(n_mw_data),
      .mr_valid(n_mr_valid),
      .mr_ready(n_mr_ready),
      .mr_data(n_mr_data),
      .m_done(n_done),
      .done(up_done),
      .back_opened(down_opened),
      .m_busy(up_m_busy)
  );

  assign trace.lost = n_done && n_error;
  assign trace.far_lost = f_done && f_error;
  assign in_flight = down_s_busy || up_m_busy;
  assign far_in_flight = up_s_busy || down_m_busy;
  assign busy = n_busy || in_flight;
  assign far_busy = f_busy || far_in_flight || bus_busy || arbiter_busy;

  logic unused;
  assign unused = &{1'b0, n_master_enable, f_master_enable, n_trace, f_trace, inta_n, count_data,
      count_busy};
endmodule
