// SP adapter in a node: the card with its SRAM, processor model, run-time settings, trace points and invariants. The
// adapter's processor is a port model like the LANai's: an uncached access of a path requests the internal bus.
module sim_sp_nic
  import myri_sleep_pkg::*;
  import myri_nic_engines_pkg::*;
  import myri_nic_trace_pkg::*;
  import sp_trace_pkg::*;
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

  logic [7:0] cfg_bus_beat, cfg_bus_access;
  logic cfg_doorbell, unused_ok;
  assign unused_ok = ^{nic_gated_clk, link_gated_clk, refresh};
  assign {nic_gated_needed, link_gated_needed} = '0;
  sp_trace_t trace;
  logic unused_sleep;
  assign unused_sleep = nic_sleep.needed ^ port_sleep.needed;
  nic_settings_t cfg;
  sleep_t nic_sleep, port_sleep;
  logic [95:0] own_set;
  sim_setting #(
      .UNIT (BASE),
      .KEY  (sp_adapter_pkg::SET_BUS_BEAT),
      .COUNT(3)
  ) own_settings (
      .clk  (setup_gated_clk),
      .rst,
      .value(own_set)
  );
  assign {cfg_doorbell, cfg_bus_access, cfg_bus_beat} = {own_set[64], own_set[39:32], own_set[7:0]};

  // ---------------------------------------------------------------- SRAM, processor, adapter
  logic cpu_gnt, cpu_busy;
  reg_request_t cpu_reg;
  sram_request_t mem_a, mem_b, cpu_sram;
  logic [63:0] mem_a_rdata, mem_b_rdata;
  logic [31:0] cpu_reg_rdata, isr;
  assign busy = nic_sleep.busy | cpu_busy;
  assign alarm = nic_sleep.alarm;
  assign in_flight = nic_sleep.in_flight;
  assign link_in_flight = port_sleep.in_flight;
  assign link_alarm = port_sleep.alarm;
  sim_lanai #(
      .UNIT  (BASE + PART_NIC_CPU),
      .MEMORY(2 * NODE + 1),
      .CLOCK (CLOCK_NIC),
      .ASKS  (1)
  ) processor (
      .clk,
      .rst,
      .cycle,
      .mem_a,
      .mem_a_rdata,
      .mem_b,
      .mem_b_rdata,
      .cpu_reg,
      .cpu_reg_rdata,
      .cpu_sram,
      .cpu_gnt,
      .isr,
      .needed(),
      .busy  (cpu_busy)
  );
  sp_adapter adapter (
      .clk,
      .rst,
      .cycle,
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
      .cpu_reg,
      .cpu_reg_rdata,
      .cpu_sram,
      .cpu_gnt,
      .isr,
      .cfg,
      .cfg_bus_beat,
      .cfg_bus_access,
      .cfg_doorbell,
      .trace,
      .sleep(nic_sleep),
      .link_rst(rst),
      .pci_rst(rst),
      .link_sleep(port_sleep),
      .cpu_rdata(),
      .intr_line()
  );

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
      .used({1'b0, mem_a.req}),
      .busy(watch_busy)
  );
  sim_probe #(
      .UNIT (BASE + PART_NET_RECV),
      .EVENT(EV_MOVE_START),
      .CLOCK(CLOCK_NIC)
  ) move_start (
      .clk,
      .rst,
      .strobe(trace.move.start),
      .packet(trace.move.key),
      .argument(trace.move.number),
      .argument2({32'd0, trace.move.bytes}),
      .ago(32'd0)
  );
  sim_probe #(
      .UNIT (BASE + PART_NET_RECV),
      .EVENT(EV_MOVE_DONE),
      .CLOCK(CLOCK_NIC)
  ) move_done (
      .clk,
      .rst,
      .strobe(trace.move.done),
      .packet(trace.move.key),
      .argument(trace.move.number),
      .argument2({32'd0, trace.move.bytes}),
      .ago(32'd0)
  );
  sim_invariant #(
      .UNIT(BASE + PART_NET_RECV),
      .CODE(96)
  ) queue_overflow (
      .clk,
      .rst,
      .strobe(trace.queue_overflow),
      .packet(32'd0)
  );
  sim_invariant #(
      .UNIT(BASE + PART_NET_RECV),
      .CODE(97)
  ) packet_misuse (
      .clk,
      .rst,
      .strobe(trace.packet_misuse),
      .packet(trace.move.key)
  );
  assign link_busy = port_sleep.busy | watch_busy;
endmodule
