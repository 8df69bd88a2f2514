// PCI segment of a host: bus wires, arbiter, host bridge and SLOTS card connectors, each with one packed input struct
// and one packed output struct (bit positions in myri_pci_pkg).
//
// The segment is idle (busy = 0) when no module has unfinished work; the grant is then parked on the bridge.
module myri_pci_segment
  import myri_pci_pkg::*;
  import myri_settings_pkg::*;
#(
    parameter int SLOTS   = 1,  // card connectors, 1..8
    parameter int IN_LOG2 = 6   // largest inbound buffer of the bridge = 2**this beats
) (
    input logic clk,  // PCI clock
    input logic [PCI_SIDES-1:0] pci_gated_clk,  // clocks of the bridge's sides, see myri_pci_pkg
    input logic rst,  // synchronous, active high
    input logic [47:0] cycle,  // index of the coming edge
    output logic [PCI_IN_BITS*SLOTS-1:0] slot_in,  // what the card in each slot sees, slot 0 lowest
    input logic [PCI_OUT_BITS*SLOTS-1:0] slot_out,  // what the card in each slot drives
    input logic [SLOTS-1:0] slot_present,  // a card is in the slot
    input host_bridge_settings_t cfg,  // configuration of the bridge
    input logic cpu_valid,  // CPU access
    output logic cpu_ready,  // accepted
    input logic cpu_write,  // 1 = store
    input logic [31:0] cpu_addr,  // 8-byte aligned
    input logic [63:0] cpu_data,  // store data in lanes
    input logic [7:0] cpu_be,  // bytes, side by side
    input logic cpu_wc,  // write-combining memory
    input logic cpu_fence,  // wait until combined stores are posted
    input logic cpu_config,  // configuration cycle (type 0, address as on AD)
    output logic cpu_rvalid,  // read data, strobe
    output logic [63:0] cpu_rdata,  // byte lanes
    output logic mem_valid,  // host memory access
    output logic mem_write,  // 1 = write
    output logic [31:0] mem_addr,  // 8-byte aligned
    output logic [63:0] mem_wdata,  // byte lanes
    output logic [7:0] mem_be,  // bytes written
    input logic [63:0] mem_rdata,  // valid one clock after a read
    output logic intr,  // level: INTA# of any agent (combinational)
    output logic idle_out,  // every store of the CPU has finished on the bus
    output logic idle_in,  // every DMA write is in memory
    output host_bridge_trace_t trace,  // events of the host bridge
    output pci_wires_t wires,  // resolved shared wires, for a monitor
    output logic [SLOTS:0] grants_n,  // GNT# of every agent, for a monitor
    output logic [SLOTS:0] requests_n,  // REQ# of every agent, for a monitor
    output logic m66en,  // the bus may run at 66 MHz: no card pulls M66EN down
    output logic conflict,  // two agents drive one wire
    output logic [31:0] count_data,  // clocks that moved data
    output logic [31:0] count_busy,  // clocks with a transaction on the bus
    output logic [PCI_SIDES-1:0] pci_gated_needed,  // clock enables of these clocks
    output logic busy  // 1 = needs clock edges
);
  localparam int AGENTS = SLOTS + 1;

  pci_in_t bridge_in;
  pci_out_t bridge_out;
  logic [AGENTS-1:0] inta_n;
  logic bridge_busy, bus_busy;

  assign m66en = bridge_in.m66en;
  assign busy  = bridge_busy | bus_busy;

  myri_pci_backplane #(
      .CARDS(SLOTS)
  ) u_backplane (
      .clk,
      .rst,
      .slot_out,
      .slot_in,
      .slot_present,
      .inta_n,
      .wires,
      .conflict,
      .count_data,
      .count_busy,
      .own_out(bridge_out),
      .own_in(bridge_in),
      .gnt_n(grants_n),
      .req_n(requests_n),
      .busy(bus_busy)
  );
  myri_host_bridge #(
      .AGENTS (AGENTS),
      .IN_LOG2(IN_LOG2)
  ) u_bridge (
      .clk,
      .pci_gated_clk,
      .rst,
      .cycle,
      .inta_n,
      .cfg,
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
      .trace,
      .pci_gated_needed,
      .pci_in(bridge_in),
      .pci_out(bridge_out),
      .req_n(requests_n),
      .gnt_n(grants_n),
      .busy(bridge_busy)
  );
endmodule
