// One PCI master (agent 0) and one PCI target (agent 1) on a bus, backends and wires brought out, for the core bench.
`include "sim_pci_backend.svh"
module sim_pci_pair
  import myri_pci_pkg::*;
  import myri_settings_pkg::*;
(
    input logic clk,  // PCI clock
    input logic rst,  // synchronous, active high
    input logic m_wide,  // master: cfg_wide
    input logic t_wide,  // target: cfg_wide
    input logic [31:0] bar_base,  // target window
    input logic [5:0] bar_size_log2,  // target window
    input logic hold_grant,  // no grant for the master: cuts its bursts
    input pci_master_settings_t m_cfg,  // configuration of the master
    input pci_target_settings_t t_cfg,  // configuration of the target
    input logic cfg_target_abort,  // as the core
    `PCI_BACKEND_PORTS()
    `include "sim_pci_ports.svh"
    output logic [1:0] pci_req_n,  // requests
    output logic [1:0] pci_gnt_n,  // grants
    output logic pci_conflict,  // two drivers on one wire
    output logic ev_retry,  // the target answered with retry
    output logic ev_disconnect,  // target stopped a burst
    output logic [31:0] count_data,  // clocks that moved data
    output logic [31:0] count_busy,  // busy clocks
    output logic busy  // needs clock edges
);
  pci_out_t m_out, t_out;
  logic [2*PCI_IN_BITS-1:0] agent_in;
  pci_wires_t wires;
  logic [1:0] inta_n, gnt_n;
  logic [47:0] cycle;
  logic bus_busy, m_busy, t_busy, a_busy, cs_write;
  pci_target_trace_t target_trace;
  pci_master_trace_t master_trace;
  logic m_retry;
  assign m_retry = master_trace.retry;
  assign {ev_retry, ev_disconnect} = {target_trace.retry, target_trace.disconnect};
  logic [ 5:0] cs_reg;
  logic [31:0] cs_wdata;
  logic [ 3:0] cs_be;
  assign busy = bus_busy | m_busy | t_busy | a_busy;
  assign pci_gnt_n = gnt_n | {1'b0, hold_grant};
  sim_pci_wires u_wires (.*);

  always_ff @(posedge clk) cycle <= rst ? 48'd0 : cycle + 48'd1;

  myri_pci_arbiter #(
      .AGENTS(2)
  ) u_arbiter (
      .clk,
      .rst,
      .frame_n(pci_frame_n),
      .irdy_n(pci_irdy_n),
      .req_n(pci_req_n),
      .gnt_n,
      .busy(a_busy)
  );
  myri_pci_bus #(
      .AGENTS(2)
  ) u_bus (
      .*,
      .agent_out({t_out, m_out}),
      .gnt_n(pci_gnt_n),
      .req_n(pci_req_n),
      .conflict(pci_conflict),
      .busy(bus_busy)
  );
  pci_write_t tw;
  pci_read_t tread;
  pci_transfer_t mc;
  assign {tw_addr, tw_data, tw_be} = tw;
  assign {tread_addr, tread_bytes} = {tread.addr, tread.bytes};
  assign mc = {mc_write, mc_addr, mc_bytes};
  myri_pci_master u_master (
      .*,
      .pci_in(agent_in[PCI_IN_BITS-1:0]),
      .pci_out(m_out),
      .cfg_wide(m_wide),
      .cfg(m_cfg),
      .mc_config(1'b0),
      .trace(master_trace),
      .needed(),
      .busy(m_busy)
  );
  myri_pci_target u_target (
      .*,
      .trace(target_trace),
      .pci_in(agent_in[2*PCI_IN_BITS-1:PCI_IN_BITS]),
      .pci_out(t_out),
      .mem_enable(1'b1),
      .cfg_wide(t_wide),
      .cfg(t_cfg),
      .cs_rdata(32'd0),
      .needed(),
      .busy(t_busy)
  );

  logic unused;
  assign unused = &{1'b0, m_retry, inta_n, tread.first, cs_write, target_trace, master_trace,
      cs_reg, cs_wdata, cs_be};
endmodule
