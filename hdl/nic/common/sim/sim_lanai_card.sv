// A LANai card as it stands in a node: the NIC, its SRAM and its processor model. A LANai 4 has one clock for NIC and PCI
// bus, `clk`; `pci_clk` is then the same one.
module sim_lanai_card
  import myri_nic_engines_pkg::*;
  import myri_pci_pkg::*;
  import sim_trace_pkg::*;
#(
    parameter int VARIANT    = 9,  // which LANai: 9 or 4
    parameter int NODE       = 0,  // VNN
    parameter int CLOCK_NIC  = 0,  // index of the NIC clock
    parameter int CLOCK_LINK = 0,  // index of the link clock
    parameter int CLOCK_PCI  = 0   // index of the PCI clock
) (
    input  logic                    rst,
    input  logic                    setup_gated_clk,    // for settings: runs in reset
    input  logic                    clk,
    input  logic [     ENGINES-1:0] nic_gated_clk,      // see myri_nic_engines_pkg
    output logic [     ENGINES-1:0] nic_gated_needed,
    input  logic [            47:0] cycle,
    output logic                    busy,               // another edge is needed
    output logic                    alarm_valid,
    output logic [            47:0] alarm_cycle,
    output logic                    in_flight,          // the NIC has something open
    input  logic                    link_clk,
    input  logic [      HALVES-1:0] link_gated_clk,     // see myri_nic_engines_pkg
    output logic [      HALVES-1:0] link_gated_needed,
    input  logic [            47:0] link_cycle,
    output logic                    link_busy,
    output logic                    link_alarm_valid,
    output logic [            47:0] link_alarm_cycle,
    output logic                    link_in_flight,     // a packet is half sent or half received
    input  logic                    pci_clk,
    input  logic [   PCI_SIDES-1:0] pci_gated_clk,      // see myri_pci_pkg
    output logic [   PCI_SIDES-1:0] pci_gated_needed,
    input  logic [            47:0] pci_cycle,
    output logic                    pci_busy,
    input  logic [             8:0] rx,
    input  logic                    rx_hold,
    output logic [             8:0] tx,
    output logic                    tx_hold,
    input  logic [ PCI_IN_BITS-1:0] pci_in,
    output logic [PCI_OUT_BITS-1:0] pci_out
);
  localparam int BASE = NODE * PARTS_PER_NODE;
  localparam int WIDTH = VARIANT == 4 ? 32 : 64;
  logic
      mem_a_valid,
      mem_a_write,
      mem_b_valid,
      mem_b_write,
      cpu_reg_valid,
      cpu_reg_write,
      cpu_free,
      lanai_busy,
      lanai_clk,
      lanai_needed;
  logic [ENGINES-1:0] nic_needed;
  logic [22:0] mem_a_addr, mem_b_addr;
  logic [WIDTH-1:0] mem_a_wdata, mem_a_rdata, mem_b_wdata, mem_b_rdata;
  logic [WIDTH/8-1:0] mem_a_be, mem_b_be;
  logic [8:0] cpu_reg_addr;
  logic [31:0] cpu_reg_wdata, cpu_reg_rdata, isr;
  logic nic_busy;
  // Processor and SRAM of a LANai 9 have the arbiter's clock.
  if (VARIANT == 9) begin : gen_part
    assign lanai_clk = nic_gated_clk[ENGINE_SRAM];
    for (genvar k = 0; k < ENGINES; k++) begin : gen_needed
      assign nic_gated_needed[k] = nic_needed[k] || (k == ENGINE_SRAM && lanai_needed);
    end
  end else begin : gen_whole
    logic unused_needed;
    assign unused_needed = lanai_needed;
    assign lanai_clk = clk;
    assign nic_gated_needed = nic_needed;
  end
  sim_lanai #(
      .WIDTH (WIDTH),
      .UNIT  (BASE + PART_NIC_CPU),
      .MEMORY(2 * NODE + 1),
      .CLOCK (CLOCK_NIC)
  ) lanai (
      .*,
      .clk(lanai_clk),
      .cpu_req(),
      .cpu_gnt(cpu_free),
      .needed(lanai_needed),
      .busy(lanai_busy)
  );
  sim_nic #(
      .VARIANT(VARIANT),
      .WIDTH(WIDTH),
      .BASE(BASE),
      .CLOCK_NIC(CLOCK_NIC),
      .CLOCK_LINK(CLOCK_LINK),
      .CLOCK_PCI(CLOCK_PCI)
  ) nic (
      .*,
      .nic_gated_needed(nic_needed),
      .busy(nic_busy),
      .st_in_flight(in_flight),
      .st_link_in_flight(link_in_flight)
  );

  assign busy = nic_busy | lanai_busy;
endmodule
