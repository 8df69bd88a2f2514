// Host of a node: CPU and memory in C, the PCI segment with its bridge, the interrupt line, trace points and
// invariants. Slot 0 holds the NIC.
module sim_node_host
  import myri_pci_pkg::*;
  import sim_trace_pkg::*;
#(
    parameter int NODE = 0,  // VNN
    parameter int SLOTS = 1,  // slots of the bus
    parameter int MONITOR = 0  // 1 = with a monitor of the bus
) (
    input logic setup_gated_clk,  // clock of the settings: runs in reset only
    input logic clk,
    input logic [PCI_SIDES-1:0] pci_gated_clk,  // clocks of the bridge's sides, see myri_pci_pkg
    output logic [PCI_SIDES-1:0] pci_gated_needed,
    input logic rst,
    input logic [47:0] cycle,
    output logic [PCI_IN_BITS*SLOTS-1:0] slot_in,  // slot k: PCI_IN_BITS from k*PCI_IN_BITS on
    input logic [PCI_OUT_BITS*SLOTS-1:0] slot_out,
    input logic [SLOTS-1:0] slot_present,
    output logic busy,  // 1 = a further clock edge is needed
    output logic in_flight  // the bridge has an unfinished transaction
);
  localparam int BASE = NODE * PARTS_PER_NODE;
  logic
      cpu_valid,
      cpu_ready,
      cpu_write,
      cpu_wc,
      cpu_fence,
      cpu_rvalid,
      mem_valid,
      mem_write,
      intr,
      host_busy,
      segment_busy,
      intr_busy;
  logic conflict, idle_out, idle_in, tr_pio_done, tr_pio_error;
  logic [31:0] cpu_addr, mem_addr;
  logic [63:0] cpu_data, cpu_rdata, mem_wdata, mem_rdata;
  logic [7:0] cpu_be, mem_be;
  sim_host #(
      .UNIT  (BASE + PART_HOST_CPU),
      .MEMORY(2 * NODE)
  ) host (
      .clk,
      .rst,
      .mem_valid,
      .mem_write,
      .mem_addr,
      .mem_wdata,
      .mem_be,
      .mem_rdata,
      .cpu_valid,
      .cpu_ready,
      .cpu_write,
      .cpu_addr,
      .cpu_data,
      .cpu_be,
      .cpu_wc,
      .cpu_fence,
      .cpu_rvalid,
      .cpu_rdata,
      .tr_pio_done,
      .tr_pio_error,
      .busy(host_busy)
  );
  sim_segment #(
      .UNIT(BASE),
      .SLOTS(SLOTS),
      .MONITOR(MONITOR)
  ) segment (
      .setup_gated_clk,
      .clk,
      .pci_gated_clk,
      .pci_gated_needed,
      .rst,
      .cycle,
      .slot_in,
      .slot_out,
      .slot_present,
      .cpu_valid,
      .cpu_ready,
      .cpu_write,
      .cpu_addr,
      .cpu_data,
      .cpu_be,
      .cpu_wc,
      .cpu_fence,
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
      .tr_pio_done,
      .tr_pio_error,
      .conflict,
      .busy(segment_busy)
  );
  sim_interrupt #(
      .UNIT(BASE + PART_HOST_CPU)
  ) interrupt (
      .clk,
      .rst,
      .intr,
      .busy(intr_busy)
  );
  sim_invariant #(
      .UNIT(BASE + PART_BRIDGE),
      .CODE(70)
  ) one_driver (
      .clk,
      .rst,
      .strobe(conflict),
      .packet(32'd0)
  );

  assign busy = host_busy | segment_busy | intr_busy;
  assign in_flight = !idle_out | !idle_in;
endmodule
