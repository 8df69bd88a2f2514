// The NIC of a node with its run-time settings, its trace points and its invariants around it. A LANai 4 has one clock
// for NIC and PCI bus, `clk`; `pci_clk` is then the same one.
module sim_nic
  import myri_nic_engines_pkg::*;
  import myri_nic_trace_pkg::*;
  import myri_pci_pkg::*;
  import myri_settings_pkg::*;
  import sim_settings_pkg::*;
#(
    parameter int VARIANT    = 9,   // which LANai: 9 or 4
    parameter int WIDTH      = 64,  // bits of a word of its SRAM
    parameter int BASE       = 0,   // first unit number of the node, and its settings unit
    parameter int CLOCK_NIC  = 0,   // index of the NIC clock
    parameter int CLOCK_LINK = 0,   // index of the link clock
    parameter int CLOCK_PCI  = 0    // index of the PCI clock
) (
    input  logic                    rst,
    input  logic                    setup_gated_clk,    // for settings: runs in reset
    input  logic                    clk,                // of a LANai 4
    input  logic [     ENGINES-1:0] nic_gated_clk,      // of a LANai 9, see myri_nic_engines_pkg
    output logic [     ENGINES-1:0] nic_gated_needed,
    input  logic [            47:0] cycle,
    output logic                    busy,
    output logic                    alarm_valid,
    output logic [            47:0] alarm_cycle,
    input  logic                    link_clk,
    input  logic [      HALVES-1:0] link_gated_clk,     // see myri_nic_engines_pkg
    output logic [      HALVES-1:0] link_gated_needed,
    input  logic [            47:0] link_cycle,
    output logic                    link_busy,
    output logic                    link_alarm_valid,
    output logic [            47:0] link_alarm_cycle,
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
    output logic [PCI_OUT_BITS-1:0] pci_out,
    output logic                    mem_a_valid,
    output logic                    mem_a_write,
    output logic [            22:0] mem_a_addr,
    output logic [       WIDTH-1:0] mem_a_wdata,
    output logic [     WIDTH/8-1:0] mem_a_be,
    input  logic [       WIDTH-1:0] mem_a_rdata,
    output logic                    mem_b_valid,
    output logic                    mem_b_write,
    output logic [            22:0] mem_b_addr,
    output logic [       WIDTH-1:0] mem_b_wdata,
    output logic [     WIDTH/8-1:0] mem_b_be,
    input  logic [       WIDTH-1:0] mem_b_rdata,
    input  logic                    cpu_reg_valid,
    input  logic                    cpu_reg_write,
    input  logic [             8:0] cpu_reg_addr,
    input  logic [            31:0] cpu_reg_wdata,
    output logic [            31:0] cpu_reg_rdata,
    output logic                    cpu_free,
    output logic [            31:0] isr,
    output logic                    st_in_flight,
    output logic                    st_link_in_flight
);
  // ---------------------------------------------------------------- the NIC
  logic port_busy, fill_busy, trace_busy;

  send_trace_t send_trace;
  recv_trace_t recv_trace;
  dma_trace_t dma_trace;
  pio_trace_t pio_trace;
  link_trace_t link_trace;
  nic_status_t status;
  nic_settings_t cfg;
  always_ff @(posedge setup_gated_clk) if (rst) cfg <= nic_settings(BASE);

  // The NIC clock as what watches an engine needs it.
  logic send_clk, recv_clk, dma_clk, pio_clk, mem_clk, mem_due;
  logic [ENGINES-1:0] nic_needed;
  if (VARIANT == 9) begin : gen_parts
    logic unused_clk;
    assign unused_clk = clk;
    assign send_clk = nic_gated_clk[ENGINE_SEND];
    assign recv_clk = nic_gated_clk[ENGINE_RECV];
    assign dma_clk = nic_gated_clk[ENGINE_DMA];
    assign pio_clk = nic_gated_clk[ENGINE_PIO];
    assign mem_clk = nic_gated_clk[ENGINE_SRAM];
    for (genvar k = 0; k < ENGINES; k++) begin : gen_needed
      assign nic_gated_needed[k] = nic_needed[k] || (k == ENGINE_SRAM && mem_due);
    end
  end else begin : gen_whole
    logic unused_due;
    assign unused_due = mem_due;
    assign {send_clk, recv_clk, dma_clk, pio_clk, mem_clk} = {5{clk}};
    assign nic_gated_needed = nic_needed;
  end

  if (VARIANT == 9) begin : gen_lanai9
    myri_nic nic (
        .link_rst(rst),
        .pci_rst(rst),
        .cpu_req(1'b0),  // C reads and writes for the processor, where there is room
        .cpu_gnt(),
        .cpu_write(1'b0),
        .cpu_addr(23'd0),
        .cpu_wdata(64'd0),
        .cpu_be(8'd0),
        .cpu_rvalid(),
        .cpu_rdata(),
        .isr_set(),
        .lanai_reset(),
        .intr_line(),
        .link_busy(port_busy),
        .nic_gated_needed(nic_needed),
        .*
    );
  end else begin : gen_lanai4
    logic unused_ok;
    assign unused_ok = ^{pci_clk, pci_cycle, nic_gated_clk, link_gated_clk};
    assign pci_busy = 1'b0;
    assign {nic_needed, link_gated_needed} = '0;
    myri_nic4 nic (
        .link_rst(rst),
        .cpu_req(1'b0),  // as above
        .cpu_gnt(),
        .cpu_write(1'b0),
        .cpu_addr(23'd0),
        .cpu_wdata(32'd0),
        .cpu_be(4'd0),
        .cpu_rvalid(),
        .cpu_rdata(),
        .isr_set(),
        .lanai_reset(),
        .intr_line(),
        .link_busy(port_busy),
        .*
    );
  end

  sim_nic_trace #(
      .BASE(BASE),
      .CLOCK_NIC(CLOCK_NIC),
      .CLOCK_LINK(CLOCK_LINK)
  ) trace (
      .*
  );
  sim_nic_invariants #(.BASE(BASE)) invariants (.*);

  sim_nic_use #(
      .BASE(BASE),
      .CLOCK_NIC(CLOCK_NIC),
      .CLOCK_PCI(CLOCK_PCI)
  ) use_of (
      .*,
      .used({1'b0, mem_a_valid} + {1'b0, mem_b_valid}),
      .busy(fill_busy)
  );
  assign link_busy = port_busy | fill_busy | trace_busy;
endmodule
