// FIFO card in a node: the card with its memory, run-time settings, trace points and invariants.
module sim_fifo_nic
  import myri_sleep_pkg::*;
  import myri_nic_engines_pkg::*;
  import myri_nic_trace_pkg::*;
  import myri_fifo_card_trace_pkg::*;
  import myri_pci_pkg::*;
  import myri_settings_pkg::*;
  import myri_sram_pkg::*;
  import sim_trace_pkg::*;
#(
    parameter int NODE       = 0,  // VNN
    parameter int CLOCK_NIC  = 0,  // index of the NIC clock
    parameter int CLOCK_LINK = 0,  // index of the link clock
    parameter int CLOCK_PCI  = 0   // index of the PCI clock
) (
    `include "sim_nic_card_ports.svh"
);
  localparam int BASE = NODE * PARTS_PER_NODE;
  logic watch_busy;

  logic unused_sleep;
  assign unused_sleep = nic_sleep.needed ^ port_sleep.needed;
  logic unused_ok;
  assign unused_ok = ^{nic_gated_clk, link_gated_clk, refresh};
  assign {nic_gated_needed, link_gated_needed} = '0;
  fifo_trace_t   trace;
  nic_settings_t cfg;
  sleep_t nic_sleep, port_sleep;

  // ---------------------------------------------------------------- memory and card
  sram_request_t mem_a, mem_b;
  logic [63:0] mem_a_rdata, mem_b_rdata;
  sim_fifo_memory #(
      .MEMORY(2 * NODE + 1)
  ) memory (
      .clk,
      .rst,
      .mem_a,
      .mem_a_rdata,
      .mem_b,
      .mem_b_rdata
  );
  myri_fifo_card fifo (
      .clk,
      .rst,
      .cycle,
      .sleep(nic_sleep),
      .link_clk,
      .link_cycle,
      .pci_clk,
      .pci_gated_clk,
      .pci_cycle,
      .pci_gated_needed,
      .pci_busy,
      .rx,
      .tx,
      .stop_lasts,
      .pci_in,
      .pci_out,
      .mem_a,
      .mem_a_rdata,
      .mem_b,
      .mem_b_rdata,
      .cfg,
      .trace,
      .link_rst(rst),
      .pci_rst(rst),
      .link_sleep(port_sleep),
      .intr_line()
  );
  assign alarm = NO_ALARM;
  assign in_flight = nic_sleep.in_flight;
  assign link_in_flight = port_sleep.in_flight;
  assign link_alarm = port_sleep.alarm;
  assign busy = nic_sleep.busy;

  // ---------------------------------------------------------------- trace and invariants
  sim_nic_watch #(
      .BASE(BASE),
      .CLOCK_NIC(CLOCK_NIC),
      .CLOCK_LINK(CLOCK_LINK),
      .CLOCK_PCI(CLOCK_PCI)
  ) watch (
      .rst,
      .setup_gated_clk,
      .cfg,
      .link_clk,
      .pci_clk,
      .trace(trace.nic),
      .pci_in,
      .nic_gated_clk({ENGINES{clk}}),
      .used({1'b0, mem_a.req} + {1'b0, mem_b.req}),
      .busy(watch_busy)
  );
  sim_invariant #(
      .UNIT(BASE + PART_NET_SEND),
      .CODE(96)
  ) host_misuse (
      .clk,
      .rst,
      .strobe(trace.host_misuse),
      .packet(32'd0)
  );
  sim_invariant #(
      .UNIT(BASE + PART_NET_RECV),
      .CODE(97)
  ) cell_refused (
      .clk,
      .rst,
      .strobe(trace.cell_refused),
      .packet(32'd0)
  );
  assign link_busy = port_sleep.busy | watch_busy;
endmodule
