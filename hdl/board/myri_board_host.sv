// Host of a board's node: PCI segment with host bridge and one slot, host memory in block RAM, comparators, and the
// access from the board's bus in place of a CPU.
//
// PCI bus and memory have the NIC clock. Timing: see the parts.
module myri_board_host
  import myri_board_pkg::*;
  import myri_nic_trace_pkg::*;
  import myri_pci_pkg::*;
  import myri_settings_pkg::*;
#(
    parameter int MEMORY_LOG2 = 16  // bytes of host memory
) (
    input logic bus_clk,  // bus clock
    input logic bus_rst,  // synchronous reset
    input logic run,  // bus clock: the host has released the reset of the nodes
    input logic nic_clk,  // NIC clock
    input logic nic_rst,  // synchronous reset
    input logic [47:0] nic_cycle,  // index of its coming edge
    input host_bridge_settings_t cfg,  // settings of the host bridge; static
    input logic [7:0] window,  // bits 31:24 of the card's PCI address; static
    input logic bus_valid,  // access from the board's bus, until bus_ready
    output logic bus_ready,  // it ends in this clock
    input logic bus_write,  // 1 = write
    input logic [31:0] bus_addr,  // byte address
    input logic [31:0] bus_wdata,  // write data
    output logic [31:0] bus_rdata,  // read data, with bus_ready
    output logic bus_error,  // with bus_ready: not answered
    output logic [COMPARATORS-1:0] hits,  // NIC clock: comparators that have matched
    output logic [PCI_IN_BITS-1:0] slot_in,  // what the card sees
    input logic [PCI_OUT_BITS-1:0] slot_out,  // what the card drives
    output logic intr,  // level: INTA#
    input logic lanai_reset,  // level: the host holds the LANai in reset
    input nic_status_t nic,  // strobes of the NIC, for register STATUS
    input logic [3:0] fault,  // register FAULT of the node
    input logic [31:0] pc,  // register of the node
    input logic [31:0] isr  // register of the node
);
  // Access from the board's bus.
  logic at_valid, at_ready, at_write, at_error;
  logic [ 3:0] at_region;
  logic [23:0] at_offset;
  logic [31:0] at_wdata, at_rdata;
  // CPU port of the PCI segment.
  logic cpu_valid, cpu_ready, cpu_write, cpu_rvalid, pio_done, pio_error;
  logic [31:0] cpu_addr;
  logic [63:0] cpu_data, cpu_rdata;
  logic [7:0] cpu_be;
  // Host memory: port of the bridge, port of the bus.
  logic mem_valid, mem_write, beyond, host_valid, host_ready, host_write;
  logic [31:0] mem_addr, host_wdata, host_rdata;
  logic [63:0] mem_wdata, mem_rdata;
  logic [7:0] mem_be;
  logic [MEMORY_LOG2-1:0] host_addr;
  // Comparators.
  logic [COMPARATORS-1:0] compare_write, compare_load;
  logic [4:0] compare_offset;
  logic [32*COMPARATORS-1:0] compare_rdata, compare_address;
  logic [31:0] status;
  logic status_clear;
  host_bridge_trace_t bridge_trace;
  assign pio_done  = bridge_trace.pio_done;
  assign pio_error = bridge_trace.pio_error;

  myri_board_cross u_cross (
      .bus_clk(bus_clk),
      .bus_rst(bus_rst),
      .hold(!run),
      .bus_valid(bus_valid),
      .bus_ready(bus_ready),
      .bus_write(bus_write),
      .bus_addr(bus_addr),
      .bus_wdata(bus_wdata),
      .bus_rdata(bus_rdata),
      .bus_error(bus_error),
      .nic_clk(nic_clk),
      .nic_rst(nic_rst),
      .at_valid(at_valid),
      .at_ready(at_ready),
      .at_write(at_write),
      .at_region(at_region),
      .at_offset(at_offset),
      .at_wdata(at_wdata),
      .at_rdata(at_rdata),
      .at_error(at_error)
  );
  myri_board_port #(
      .MEMORY_LOG2(MEMORY_LOG2)
  ) u_port (
      .clk(nic_clk),
      .rst(nic_rst),
      .window(window),
      .at_valid(at_valid),
      .at_ready(at_ready),
      .at_write(at_write),
      .at_region(at_region),
      .at_offset(at_offset),
      .at_wdata(at_wdata),
      .at_rdata(at_rdata),
      .at_error(at_error),
      .cpu_valid(cpu_valid),
      .cpu_ready(cpu_ready),
      .cpu_write(cpu_write),
      .cpu_addr(cpu_addr),
      .cpu_data(cpu_data),
      .cpu_be(cpu_be),
      .cpu_rvalid(cpu_rvalid),
      .cpu_rdata(cpu_rdata),
      .pio_done(pio_done),
      .pio_error(pio_error),
      .mem_valid(host_valid),
      .mem_ready(host_ready),
      .mem_write(host_write),
      .mem_addr(host_addr),
      .mem_wdata(host_wdata),
      .mem_rdata(host_rdata),
      .compare_write(compare_write),
      .compare_offset(compare_offset),
      .compare_rdata(compare_rdata),
      .compare_address(compare_address),
      .compare_load(compare_load),
      .status_clear(status_clear),
      .fault({28'd0, fault}),
      .pc(pc),
      .isr(isr),
      .node_status(status)
  );
  myri_board_status u_status (
      .clk(nic_clk),
      .rst(nic_rst),
      .clear(status_clear),
      .lanai_reset(lanai_reset),
      .intr(intr),
      .nic(nic),
      .pio_error(pio_done && pio_error),
      .beyond(beyond),
      .status(status)
  );
  for (genvar i = 0; i < COMPARATORS; i++) begin : gen_comparator
    myri_board_comparator u_comparator (
        .clk(nic_clk),
        .rst(nic_rst),
        .cycle(nic_cycle),
        .write(compare_write[i]),
        .offset(compare_offset),
        .wdata(at_wdata),
        .rdata(compare_rdata[32*i+:32]),
        .load(compare_load[i]),
        .load_data(host_rdata),
        .mem_write(mem_valid && mem_write),
        .mem_addr(mem_addr),
        .mem_be(mem_be),
        .mem_wdata(mem_wdata),
        .address(compare_address[32*i+:32]),
        .hit(hits[i])
    );
  end
  myri_board_memory #(
      .MEMORY_LOG2(MEMORY_LOG2)
  ) u_memory (
      .clk(nic_clk),
      .mem_valid(mem_valid),
      .mem_write(mem_write),
      .mem_addr(mem_addr),
      .mem_wdata(mem_wdata),
      .mem_be(mem_be),
      .mem_rdata(mem_rdata),
      .beyond(beyond),
      .at_valid(host_valid),
      .at_ready(host_ready),
      .at_write(host_write),
      .at_addr(host_addr),
      .at_wdata(host_wdata),
      .at_rdata(host_rdata)
  );
  myri_pci_segment #(
      .SLOTS(1)
  ) u_segment (
      .clk(nic_clk),
      .pci_gated_clk({PCI_SIDES{nic_clk}}),
      .rst(nic_rst),
      .cycle(nic_cycle),
      .slot_in(slot_in),
      .slot_out(slot_out),
      .slot_present(1'b1),
      .cfg(cfg),
      .cpu_valid(cpu_valid),
      .cpu_ready(cpu_ready),
      .cpu_write(cpu_write),
      .cpu_addr(cpu_addr),
      .cpu_data(cpu_data),
      .cpu_be(cpu_be),
      .cpu_wc(1'b0),
      .cpu_fence(1'b0),
      .cpu_config(1'b0),
      .cpu_rvalid(cpu_rvalid),
      .cpu_rdata(cpu_rdata),
      .mem_valid(mem_valid),
      .mem_write(mem_write),
      .mem_addr(mem_addr),
      .mem_wdata(mem_wdata),
      .mem_be(mem_be),
      .mem_rdata(mem_rdata),
      .intr(intr),
      .idle_out(),
      .idle_in(),
      .trace(bridge_trace),
      .wires(),
      .grants_n(),
      .requests_n(),
      .m66en(),
      .conflict(),
      .count_data(),
      .count_busy(),
      .pci_gated_needed(),
      .busy()
  );

  logic unused;
  assign unused = ^bridge_trace;
endmodule
