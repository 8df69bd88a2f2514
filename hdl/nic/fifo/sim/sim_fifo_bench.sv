// FIFO card on a PCI segment, for its bench, which acts as host CPU, host memory and link partner.
module sim_fifo_bench
  import myri_sleep_pkg::*;
  import myri_nic_trace_pkg::*;
  import myri_fifo_card_trace_pkg::*;
  import myri_pci_pkg::*;
  import myri_settings_pkg::*;
  import myri_sram_pkg::*;
(
    input logic clk,  // NIC clock, free-running
    input logic link_clk,  // link clock, free-running
    input logic pci_clk,  // PCI clock, free-running
    input logic rst,  // reset of all three
    input logic sleep,  // 1 = skip unneeded clock edges
    output logic [47:0] cycle,  // index of the NIC edge
    output logic [47:0] link_cycle,  // index of the link edge
    output logic [47:0] pci_cycle,  // index of the PCI edge
    output logic [31:0] edges,  // edges the NIC clock had
    output logic [31:0] link_edges,  // edges the link clock had
    output logic [31:0] pci_edges,  // edges the PCI clock had
    output logic asleep,  // no clock needs an edge
    input logic [3:0] cfg_cdc_latency,  // latency of every crossing
    input logic [8:0] rx,  // link: characters to the card, 0 = idle
    output logic [8:0] tx,  // link: characters from it
    input logic cfg_wide,  // 64-bit bus
    output logic intr_line,  // level: interrupt request, before it crosses to INTA#
    output logic [4:0] tr_clk,  // strobes of clk, as below: pio_write, rx_done, rx_first, tx_read, tx_start
    output logic [3:0] tr_link,  // strobes of link_clk, as below: rx_tail, rx_head, tx_tail, tx_head
    `include "sim_trace_ports.svh"
    output logic tr_pio_write,  // clk: a write of the host has arrived ...
    output logic [23:0] tr_pio_addr,  // ... at this offset of the card's region
    output logic st_host_misuse,  // clk: an access of the host was rejected
    output logic st_cell_refused,  // clk: a cell was rejected
    output logic st_in_flight,  // clk: send or DMA has something open
    output logic st_link_in_flight,  // link_clk: a packet is partly sent or received
    `include "sim_host_ports.svh"
    output logic intr,  // level: INTA# of any agent (combinational)
    output logic idle_out,  // every store of the CPU has finished on the bus
    output logic idle_in,  // every DMA write is in memory
    `include "sim_pci_ports.svh"
    output logic [1:0] pci_req_n,  // requests
    output logic [1:0] pci_gnt_n,  // grants
    output logic pci_conflict  // two drivers on one wire
);
  logic run_clk, run_link_clk, run_pci_clk;
  logic busy, link_busy, cable_busy, pci_busy, segment_busy;
  alarm_t   link_alarm;
  pci_in_t  pci_in;
  pci_out_t pci_out;
  sram_request_t mem_a, mem_b;
  logic [63:0] mem_a_rdata, mem_b_rdata;

  assign cable_busy = rx != 9'd0;
  logic unused_ok;
  assign unused_ok = ^trace;

  assign tr_clk = {tr_pio_write, tr_rx_done, tr_rx_first, tr_tx_read, tr_tx_start};
  assign tr_link = {tr_rx_tail, tr_rx_head, tr_tx_tail, tr_tx_head};

  fifo_trace_t trace;
  send_trace_t send_trace;
  recv_trace_t recv_trace;
  link_trace_t link_trace;
  assign send_trace = trace.nic.net.send;
  assign recv_trace = trace.nic.net.recv;
  assign link_trace = trace.nic.net.link;
  assign st_host_misuse = trace.host_misuse;
  assign st_cell_refused = trace.cell_refused;
  sleep_t needs, link_needs;
  assign busy = needs.busy;
  assign link_busy = link_needs.busy;
  assign link_alarm = link_needs.alarm;
  assign st_in_flight = needs.in_flight;
  assign st_link_in_flight = link_needs.in_flight;
  `include "sim_trace_fields.svh"
  assign tr_pio_write = trace.nic.host.pio.pio_write;
  assign tr_pio_addr  = trace.nic.host.pio.pio_addr;
  nic_settings_t cfg;
  sim_nic_fixed u_fixed (
      .cfg_cdc_latency,
      .cfg_wide,
      .cfg,
      .cfg_accesses(2'd2),
      .cfg_start_clocks(16'd0),
      .cfg_nres_clocks(32'd0)
  );
  sim_nic_gates u_gates (
      .clk,
      .link_clk,
      .pci_clk,
      .rst,
      .sleep,
      .busy,
      .link_busy,
      .link_alarm,
      .cable_busy,
      .pci_busy,
      .segment_busy,
      .run_clk,
      .run_link_clk,
      .run_pci_clk,
      .cycle,
      .link_cycle,
      .pci_cycle,
      .edges,
      .link_edges,
      .pci_edges,
      .asleep,
      .alarm(myri_sleep_pkg::NO_ALARM)
  );

  myri_fifo_card u_card (
      .rst,
      .cycle,
      .sleep(needs),
      .link_cycle,
      .link_sleep(link_needs),
      .pci_cycle,
      .pci_busy,
      .rx,
      .tx,
      .pci_in,
      .pci_out,
      .mem_a,
      .mem_a_rdata,
      .mem_b,
      .mem_b_rdata,
      .intr_line,
      .cfg,
      .trace,
      .clk(run_clk),
      .link_clk(run_link_clk),
      .link_rst(rst),
      .pci_clk(run_pci_clk),
      .pci_gated_clk({PCI_SIDES{run_pci_clk}}),
      .pci_gated_needed(),
      .pci_rst(rst),
      .stop_lasts(1'b0)
  );

  myri_sram #(
      .SIZE_LOG2(18)
  ) u_sram (
      .mem_a,
      .mem_a_rdata,
      .mem_b,
      .mem_b_rdata,
      .clk(run_clk)
  );

  sim_bench_segment u_segment (
      .rst,
      .cfg_wide,
      .cpu_valid,
      .cpu_ready,
      .cpu_write,
      .cpu_addr,
      .cpu_data,
      .cpu_be,
      .cpu_wc,
      .cpu_fence,
      .cpu_config,
      .cpu_rvalid,
      .cpu_rdata,
      .mem_valid,
      .mem_write,
      .mem_addr,
      .mem_wdata,
      .mem_be,
      .mem_rdata,
      .intr,
      .idle_out,
      .idle_in,
      .pci_ad,
      .pci_cbe,
      .pci_par,
      .pci_par64,
      .pci_frame_n,
      .pci_irdy_n,
      .pci_trdy_n,
      .pci_devsel_n,
      .pci_stop_n,
      .pci_req64_n,
      .pci_ack64_n,
      .pci_req_n,
      .pci_gnt_n,
      .pci_conflict,
      .segment_busy,
      .clk(run_pci_clk),
      .cycle(pci_cycle),
      .slot_in(pci_in),
      .slot_out(pci_out),
      .cfg_mem_log2(6'd16)
  );
endmodule
