// Node of a board: LANai 4 NIC with its processor and SRAM, its host, and its trace.
//
// NIC, PCI bus and memories have the NIC clock. The arriving cable is part of the node.
module myri_board_node
  import myri_board_pkg::*;
  import myri_nic_engines_pkg::*;
  import myri_nic_trace_pkg::*;
  import myri_pci_pkg::*;
  import myri_settings_pkg::*;
  import myri_sram_pkg::*;
  import myri_lanai_core_pkg::*;
#(
    parameter int NODE = 0,  // number of the node
    parameter bit CORE = 1'b1,  // the NIC has a processor
    parameter int SRAM_LOG2 = 16,  // bytes of SRAM
    parameter int MEMORY_LOG2 = 16  // bytes of host memory
) (
    input logic bus_clk,  // bus clock
    input logic bus_rst,  // synchronous reset
    input logic run,  // bus clock: the host has released the reset of the nodes
    input logic nic_clk,  // NIC clock
    input logic nic_rst,  // synchronous reset
    input logic [47:0] nic_cycle,  // index of its coming edge
    input logic link_clk,  // link clock
    input logic link_rst,  // synchronous reset
    input logic [47:0] link_cycle,  // index of its coming edge
    input nic_settings_t cfg_nic,  // settings; static
    input host_bridge_settings_t cfg_bridge,  // settings of the host bridge; static
    input core_settings_t cfg_core,  // settings of the processor; static
    input logic [7:0] cfg_cable_delay,  // of the arriving cable, characters
    input logic [8:0] far_tx,  // characters that enter the arriving cable
    output logic [8:0] tx,  // characters of the NIC
    input logic bus_valid,  // access from the board's bus, until bus_ready
    output logic bus_ready,  // it ends in this clock
    input logic bus_write,  // 1 = write
    input logic [31:0] bus_addr,  // byte address
    input logic [31:0] bus_wdata,  // write data
    output logic [31:0] bus_rdata,  // read data, with bus_ready
    output logic bus_error,  // with bus_ready: not answered
    output logic [COMPARATORS-1:0] hits,  // NIC clock: comparators that have matched
    output logic [1:0] record_valid,  // trace records in the bus clock, of NIC and link clock
    input logic [1:0] record_ready,  // taken at the coming edge
    output logic [2*RECORD_BITS-1:0] records,  // board_record_t, NIC clock lowest
    output logic fault  // NIC clock: the processor has halted
);
  localparam int BASE = 16 * NODE;  // first unit number
  localparam int NIC_SOURCES = 9;  // see myri_board_points
  localparam int LINK_SOURCES = 7;

  // Card.
  logic [PCI_IN_BITS-1:0] slot_in;
  logic [PCI_OUT_BITS-1:0] slot_out;
  pci_in_t pci_in;
  pci_out_t pci_out;
  sram_request_t sram_a, sram_b, cpu_sram;
  sram_read_t cpu_read;
  logic [63:0] sram_a_rdata, sram_b_rdata;
  reg_request_t cpu_reg;
  logic cpu_gnt, lanai_reset, intr_line, intr;
  logic [8:0] rx;
  logic [31:0] cpu_reg_rdata, isr, pc;
  logic [3:0] core_fault;
  nic_trace_t nic_trace;
  nic_status_t nic_status;
  logic [NIC_SOURCES-1:0] nic_strobe;
  logic [EVENT_BITS*NIC_SOURCES-1:0] nic_events;
  logic [LINK_SOURCES-1:0] link_strobe;
  logic [EVENT_BITS*LINK_SOURCES-1:0] link_events;
  board_record_t nic_record, link_record;
  assign nic_status = nic_trace.status;
  assign records = {link_record, nic_record};
  assign pci_in = slot_in;
  assign slot_out = pci_out;

  always_ff @(posedge nic_clk) fault <= !nic_rst && core_fault != 4'd0;

  myri_board_host #(
      .MEMORY_LOG2(MEMORY_LOG2)
  ) u_host (
      .bus_clk(bus_clk),
      .bus_rst(bus_rst),
      .run(run),
      .nic_clk(nic_clk),
      .nic_rst(nic_rst),
      .nic_cycle(nic_cycle),
      .cfg(cfg_bridge),
      .window(cfg_nic.pci.base[31:24]),
      .bus_valid(bus_valid),
      .bus_ready(bus_ready),
      .bus_write(bus_write),
      .bus_addr(bus_addr),
      .bus_wdata(bus_wdata),
      .bus_rdata(bus_rdata),
      .bus_error(bus_error),
      .hits(hits),
      .slot_in(slot_in),
      .slot_out(slot_out),
      .intr(intr),
      .lanai_reset(lanai_reset),
      .nic(nic_status),
      .fault(core_fault),
      .pc(pc),
      .isr(isr)
  );
  myri_nic4 u_nic (
      .clk(nic_clk),
      .pci_gated_clk({PCI_SIDES{nic_clk}}),
      .rst(nic_rst),
      .cycle(nic_cycle),
      .sleep(),
      .pci_gated_needed(),
      .link_clk(link_clk),
      .link_rst(link_rst),
      .link_cycle(link_cycle),
      .link_sleep(),
      .rx(rx),
      .tx(tx),
      .stop_lasts(1'b0),
      .pci_in(pci_in),
      .pci_out(pci_out),
      .mem_a(sram_a),
      .mem_a_rdata(sram_a_rdata),
      .mem_b(sram_b),
      .mem_b_rdata(sram_b_rdata),
      .cpu_reg(cpu_reg),
      .cpu_reg_rdata(cpu_reg_rdata),
      .cpu_sram(cpu_sram),
      .cpu_gnt(cpu_gnt),
      .cpu_free(),
      .cpu_read(cpu_read),
      .isr(isr),
      .isr_set(),
      .lanai_reset(lanai_reset),
      .intr_line(intr_line),
      .cfg(cfg_nic),
      .trace(nic_trace)
  );
  myri_sram #(
      .SIZE_LOG2(SRAM_LOG2),
      .WIDTH(32)
  ) u_sram (
      .clk(nic_clk),
      .mem_a(sram_a),
      .mem_a_rdata(sram_a_rdata),
      .mem_b(sram_b),
      .mem_b_rdata(sram_b_rdata)
  );
  if (CORE) begin : gen_core
    logic core_rst_q;
    core_trace_t core_trace;
    always_ff @(posedge nic_clk) core_rst_q <= nic_rst || lanai_reset;
    logic unused_trace;
    assign pc = core_trace.pc;
    assign unused_trace = ^core_trace;
    myri_lanai_core #(
        .WIDTH(32),
        .REGISTER_BITS(8)
    ) u_core (
        .clk(nic_clk),
        .rst(core_rst_q),
        .cfg_load_delay(cfg_core.load_delay),
        .cfg_fetch_log2(cfg_core.fetch_log2),
        .cfg_register_clocks(cfg_core.register_clocks),
        .sram_bytes(cfg_core.sram_bytes),
        .cpu_sram(cpu_sram),
        .cpu_gnt(cpu_gnt),
        .cpu_read(cpu_read),
        .cpu_reg(cpu_reg),
        .cpu_reg_rdata(cpu_reg_rdata),
        .trace(core_trace),
        .fault(core_fault)
    );
  end else begin : gen_no_core
    assign cpu_sram = SRAM_IDLE;
    assign cpu_reg = '0;
    assign core_fault = 4'd0;
    assign pc = 32'd0;
    logic unused_core;
    assign unused_core = ^{cpu_gnt, cpu_read, cpu_reg_rdata, cfg_core};
  end
  myri_board_cable u_cable (
      .clk(link_clk),
      .rst(link_rst),
      .cfg_delay(cfg_cable_delay),
      .tx(far_tx),
      .rx(rx)
  );

  myri_board_points #(
      .BASE(BASE)
  ) u_points (
      .nic_clk(nic_clk),
      .nic_rst(nic_rst),
      .link_clk(link_clk),
      .link_rst(link_rst),
      .intr(intr),
      .send(nic_trace.net.send),
      .recv(nic_trace.net.recv),
      .dma(nic_trace.host.dma),
      .pio(nic_trace.host.pio),
      .link(nic_trace.net.link),
      .nic_strobe(nic_strobe),
      .nic_events(nic_events),
      .link_strobe(link_strobe),
      .link_events(link_events)
  );
  myri_board_traced #(
      .SOURCES(NIC_SOURCES),
      .CLOCK  (CLOCK_NIC)
  ) u_nic_trace (
      .src_clk(nic_clk),
      .src_rst(nic_rst),
      .cycle(nic_cycle),
      .strobe(nic_strobe),
      .events(nic_events),
      .bus_clk(bus_clk),
      .bus_rst(bus_rst || !run),
      .record_valid(record_valid[0]),
      .record_ready(record_ready[0]),
      .record(nic_record)
  );
  myri_board_traced #(
      .SOURCES(LINK_SOURCES),
      .CLOCK  (CLOCK_LINK)
  ) u_link_trace (
      .src_clk(link_clk),
      .src_rst(link_rst),
      .cycle(link_cycle),
      .strobe(link_strobe),
      .events(link_events),
      .bus_clk(bus_clk),
      .bus_rst(bus_rst || !run),
      .record_valid(record_valid[1]),
      .record_ready(record_ready[1]),
      .record(link_record)
  );

  logic unused;
  assign unused = ^{intr_line, cfg_core.run, nic_trace};
endmodule
