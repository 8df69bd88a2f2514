// PCI segment of a node with its run-time settings: the NIC in slot 0, further cards in the following slots.
module sim_segment
  import myri_pci_pkg::*;
  import myri_settings_pkg::*;
  import sim_settings_pkg::*;
  import sim_trace_pkg::*;
#(
    parameter int UNIT = 0,  // settings unit of the node
    parameter int SLOTS = 1,  // connectors
    parameter int MONITOR = 0  // 1 = with a monitor of the bus
) (
    input logic setup_gated_clk,  // clock of the settings: runs in reset only
    input logic clk,
    input logic [PCI_SIDES-1:0] pci_gated_clk,  // clocks of the bridge's sides, see myri_pci_pkg
    output logic [PCI_SIDES-1:0] pci_gated_needed,
    input logic rst,
    input logic [47:0] cycle,
    output logic [PCI_IN_BITS*SLOTS-1:0] slot_in,
    input logic [PCI_OUT_BITS*SLOTS-1:0] slot_out,
    input logic [SLOTS-1:0] slot_present,
    input logic cpu_valid,
    output logic cpu_ready,
    input logic cpu_write,
    input logic [31:0] cpu_addr,
    input logic [63:0] cpu_data,
    input logic [7:0] cpu_be,
    input logic cpu_wc,
    input logic cpu_fence,
    output logic cpu_rvalid,
    output logic [63:0] cpu_rdata,
    output logic mem_valid,
    output logic mem_write,
    output logic [31:0] mem_addr,
    output logic [63:0] mem_wdata,
    output logic [7:0] mem_be,
    input logic [63:0] mem_rdata,
    output logic intr,
    output logic idle_out,
    output logic idle_in,
    output logic tr_pio_done,
    output logic tr_pio_error,  // with tr_pio_done
    output logic conflict,
    output logic busy
);
  host_bridge_settings_t cfg;
  always_ff @(posedge setup_gated_clk) if (rst) cfg <= host_bridge_settings(UNIT);

  host_bridge_trace_t trace;
  assign tr_pio_done  = trace.pio_done;
  assign tr_pio_error = trace.pio_error;
  logic unused_trace;
  assign unused_trace = ^trace;

  pci_wires_t wires;
  logic [SLOTS:0] grants_n, requests_n;
  logic segment_busy, monitor_busy;
  assign busy = segment_busy | monitor_busy;
  if (MONITOR != 0) begin : gen_monitor
    sim_pci_monitor #(
        .UNIT  (UNIT + PART_PCI),
        .AGENTS(SLOTS + 1)
    ) monitor (
        .clk,
        .rst,
        .wires,
        .grants_n,
        .requests_n,
        .conflict,
        .busy(monitor_busy)
    );
  end else begin : gen_no_monitor
    assign monitor_busy = 1'b0;
    logic unused_wires;
    assign unused_wires = &{1'b0, wires, grants_n, requests_n};
  end
  myri_pci_segment #(
      .SLOTS(SLOTS)
  ) segment (
      .clk,
      .pci_gated_clk,
      .rst,
      .cycle,
      .slot_in,
      .slot_out,
      .slot_present,
      .cfg,
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
      .trace,
      .conflict,
      .pci_gated_needed,
      .wires,
      .grants_n,
      .requests_n,
      .busy(segment_busy),
      .cpu_config(1'b0),
      .m66en(),
      .count_data(),
      .count_busy()
  );
endmodule
