// PCI device that is both target and master: the two cores, the configuration space, and their joined wires.
//
// The latency timer is that of the configuration space if it is not 0, otherwise cfg.master.latency_timer.
// Timing: see myri_pci_target and myri_pci_master.
module myri_pci_device
  import myri_pci_pkg::*;
  import myri_settings_pkg::*;
#(
    parameter int VENDOR = 32'h14C1,  // see myri_pci_config
    parameter int DEVICE = 32'h8043,  // see myri_pci_config
    parameter int CLASS_REV = 32'h0280_0000,  // see myri_pci_config
    parameter int BAR_LOG2 = 24,  // see myri_pci_config
    parameter int HOLE_LOG2 = 0,  // see myri_pci_target
    parameter int OUTSIDE = 0  // see myri_pci_target
) (
    input logic [PCI_SIDES-1:0] pci_gated_clk,  // PCI clock of its sides, gated
    input logic rst,  // synchronous, active high
    input logic [47:0] cycle,  // index of the coming edge
    input pci_in_t pci_in,  // resolved wires of the slot
    output pci_out_t pci_out,  // drives and enables
    input pci_card_settings_t cfg,  // configuration of the device
    input logic inta,  // level of the interrupt request
    output logic master_enable,  // 1 = may be bus master
    output logic tw_valid,  // write beat of the target
    input logic tw_ready,  // accepted
    output pci_write_t tw,  // the beat
    output logic tread_valid,  // read request of the target
    input logic tread_ready,  // accepted
    output pci_read_t tread,  // the request
    input logic td_valid,  // answer to the oldest request (always taken)
    input logic [63:0] td_data,  // byte lanes
    output pci_device_trace_t trace,  // events of the clock before
    input logic mc_valid,  // command of the master
    output logic mc_ready,  // accepted
    input pci_transfer_t mc,  // the command
    input logic mw_valid,  // write beat of the master
    output logic mw_ready,  // accepted
    input logic [63:0] mw_data,  // byte lanes
    output logic mr_valid,  // read beat of the master
    input logic mr_ready,  // accepted
    output logic [63:0] mr_data,  // byte lanes
    output logic m_done,  // strobe: the command is over
    output logic m_error,  // with m_done: ended by an abort
    output logic [PCI_SIDES-1:0] pci_gated_needed,  // clock enables of these clocks
    output logic busy  // 1 = a transaction is unfinished, or a further edge is needed
);
  pci_out_t target_out, master_out;
  logic cs_write, mem_enable, target_busy, master_busy;
  logic [5:0] cs_reg, bar_size_log2;
  logic [31:0] cs_wdata, cs_rdata, bar_base;
  logic [3:0] cs_be;
  logic [7:0] latency_timer, interrupt_line;
  pci_master_settings_t master;
  assign busy = target_busy || master_busy;
  assign master.latency_timer = latency_timer != 8'd0 ? latency_timer : cfg.master.latency_timer;
  assign master.max_burst = cfg.master.max_burst;
  assign master.start_delay = cfg.master.start_delay;
  assign master.irdy_wait = cfg.master.irdy_wait;
  assign master.line_bytes = cfg.master.line_bytes;

  myri_pci_config #(
      .VENDOR(VENDOR),
      .DEVICE(DEVICE),
      .CLASS_REV(CLASS_REV),
      .BAR_LOG2(BAR_LOG2)
  ) u_config (
      .clk(pci_gated_clk[SIDE_TARGET]),
      .cfg_base(cfg.base),
      .cfg_enabled(cfg.enabled),
      .busy(),  // only in a data phase of the target
      .rst,
      .cs_write,
      .cs_reg,
      .cs_wdata,
      .cs_be,
      .cs_rdata,
      .bar_base,
      .bar_size_log2,
      .mem_enable,
      .master_enable,
      .latency_timer,
      .interrupt_line
  );
  myri_pci_target #(
      .HOLE_LOG2(HOLE_LOG2),
      .OUTSIDE  (OUTSIDE)
  ) u_target (
      .clk(pci_gated_clk[SIDE_TARGET]),
      .pci_out(target_out),
      .cfg(cfg.target),
      .cfg_wide(cfg.wide),
      .cfg_target_abort(1'b0),
      .trace(trace.target),
      .needed(pci_gated_needed[SIDE_TARGET]),
      .busy(target_busy),
      .rst,
      .cycle,
      .pci_in,
      .bar_base,
      .bar_size_log2,
      .mem_enable,
      .tw_valid,
      .tw_ready,
      .tw,
      .tread_valid,
      .tread_ready,
      .tread,
      .td_valid,
      .td_data,
      .cs_write,
      .cs_reg,
      .cs_wdata,
      .cs_be,
      .cs_rdata
  );
  myri_pci_master u_master (
      .clk(pci_gated_clk[SIDE_MASTER]),
      .pci_out(master_out),
      .cfg(master),
      .cfg_wide(cfg.wide),
      .mc_config(1'b0),
      .trace(trace.master),
      .needed(pci_gated_needed[SIDE_MASTER]),
      .busy(master_busy),
      .rst,
      .pci_in,
      .mc_valid,
      .mc_ready,
      .mc,
      .mw_valid,
      .mw_ready,
      .mw_data,
      .mr_valid,
      .mr_ready,
      .mr_data,
      .m_done,
      .m_error
  );
  myri_pci_merge u_merge (
      .a_out(target_out),
      .b_out(master_out),
      .m66  (cfg.m66),
      .inta,
      .pci_out
  );

  logic unused;
  assign unused = &{1'b0, interrupt_line};
endmodule
