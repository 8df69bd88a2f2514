// LANai 9 card in a node: the NIC, its SRAM, its processor (a model, or a core that executes machine code), and their
// trace points and invariants.
`include "sim_nic_card.svh"
module sim_lanai9_card
  import myri_sleep_pkg::*;
  import myri_nic_engines_pkg::*;
  import myri_nic_trace_pkg::*;
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
  logic cpu_free, lanai_busy, lanai_needed, watch_busy, monitor_busy;
  logic [31:0] cpu_reg_rdata, isr;
  logic core_needed, core_busy, written, lanai_reset, cpu_gnt;
  sram_request_t cpu_sram;
  sram_read_t cpu_read;
  reg_request_t cpu_reg, model_reg;
  sram_request_t mem_a, mem_b;
  logic [63:0] mem_a_rdata, mem_b_rdata;
  nic_trace_t trace;
  logic unused_sleep;
  assign unused_sleep = nic_sleep.needed ^ port_sleep.needed;
  nic_settings_t cfg;
  sleep_t nic_sleep, port_sleep;
  // Processor, SRAM and its access counter run on the arbiter's clock.
  logic [ENGINES-1:0] nic_needed;
  assign nic_gated_needed = nic_needed | ENGINES'({lanai_needed || core_needed} << ENGINE_SRAM);
  logic unused_clk;
  assign unused_clk = clk;
  assign busy = nic_sleep.busy | lanai_busy | core_busy | monitor_busy;
  assign written = (mem_a.req && mem_a.write) || (mem_b.req && mem_b.write);
  assign link_busy = port_sleep.busy | watch_busy;
  assign alarm = nic_sleep.alarm;
  assign in_flight = nic_sleep.in_flight;
  assign link_in_flight = port_sleep.in_flight;
  assign link_alarm = port_sleep.alarm;
  sim_lanai #(
      .UNIT  (BASE + PART_NIC_CPU),
      .MEMORY(2 * NODE + 1),
      .CLOCK (CLOCK_NIC)
  ) lanai (
      .rst,
      .cycle,
      .mem_a,
      .mem_a_rdata,
      .mem_b,
      .mem_b_rdata,
      .cpu_reg_rdata,
      .isr,
      .cpu_reg(model_reg),
      .clk(nic_gated_clk[ENGINE_SRAM]),
      .cpu_sram(),
      .cpu_gnt(cpu_free),
      .needed(lanai_needed),
      .busy(lanai_busy)
  );
  sim_core #(
      .CORE (`SIM_NIC_CORE),
      .ISR  (myri_lanai9_pkg::REG_ISR),
      .UNIT (BASE + PART_NIC_CPU),
      .CLOCK(CLOCK_NIC),
      .BASE (BASE)
  ) core (
      .rst,
      .cycle,
      .refresh,
      .lanai_reset,
      .model_reg,
      .cpu_reg,
      .cpu_reg_rdata,
      .cpu_sram,
      .cpu_gnt,
      .cpu_read,
      .isr,
      .written,
      .clk(nic_gated_clk[ENGINE_SRAM]),
      .needed(core_needed),
      .busy(core_busy)
  );
  myri_nic nic (
      .nic_gated_clk,
      .rst,
      .cycle,
      .link_clk,
      .link_gated_clk,
      .link_cycle,
      .link_gated_needed,
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
      .cpu_free,
      .cpu_read,
      .isr,
      .lanai_reset,
      .cfg,
      .trace,
      .link_rst(rst),
      .pci_rst(rst),
      .nic_gated_needed(nic_needed),
      .isr_set(),
      .intr_line(),
      .sleep(nic_sleep),
      .link_sleep(port_sleep)
  );
  sim_nic_watch #(
      .BASE(BASE),
      .CLOCK_NIC(CLOCK_NIC),
      .CLOCK_LINK(CLOCK_LINK),
      .CLOCK_PCI(CLOCK_PCI)
  ) watch (
      .rst,
      .setup_gated_clk,
      .cfg,
      .nic_gated_clk,
      .link_clk,
      .pci_clk,
      .trace,
      .pci_in,
      .used({1'b0, mem_a.req} + {1'b0, mem_b.req}),
      .busy(watch_busy)
  );
  `include "sim_arbiter_monitor.svh"
endmodule
