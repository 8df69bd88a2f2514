// PCI segment with one card for benches: the host bridge with fixed settings, the bus's wires as separate ports.
module sim_bench_segment
  import myri_pci_pkg::*;
  import myri_settings_pkg::*;
(
    input  logic            clk,           // PCI clock
    input  logic            rst,           // synchronous, active high
    input  logic     [47:0] cycle,         // index of the coming edge
    output pci_in_t         slot_in,       // what the card sees
    input  pci_out_t        slot_out,      // what the card drives
    input  logic     [ 5:0] cfg_mem_log2,  // host memory window at 0, bytes = 2**this
    input  logic            cfg_wide,      // 64-bit bus
    `include "sim_host_ports.svh"
    output logic            intr,          // level: INTA# of any agent (combinational)
    output logic            idle_out,      // every store of the CPU has finished on the bus
    output logic            idle_in,       // every DMA write is in memory
    `include "sim_pci_ports.svh"
    output logic     [ 1:0] pci_req_n,     // requests
    output logic     [ 1:0] pci_gnt_n,     // grants
    output logic            pci_conflict,  // two drivers on one wire
    output logic            segment_busy   // 1 = a further clock edge is needed
);
  pci_wires_t wires;
  host_bridge_settings_t cfg;
  assign cfg.mem_log2 = cfg_mem_log2;
  assign cfg.wide = cfg_wide;
  assign cfg.m66 = 1'b1;
  assign cfg.latency_timer = 8'd0;
  assign cfg.start_delay = 8'd0;
  assign cfg.extra_num = 4'd0;
  assign cfg.extra_den = 4'd0;
  assign cfg.post_depth = 5'd4;
  assign cfg.wc_bytes = 7'd32;
  assign cfg.read_return = 8'd0;
  assign cfg.up_devsel = 2'd1;
  assign cfg.up_write_initial = 4'd0;
  assign cfg.up_read_initial = 4'd0;
  assign cfg.up_subsequent = 3'd0;
  assign cfg.up_read_wait = 4'd8;
  assign cfg.up_stall_limit = 3'd4;
  assign cfg.up_max_phases = 8'd0;
  assign cfg.in_buffer = 8'd32;
  assign cfg.drain_num = 8'd1;
  assign cfg.drain_den = 8'd1;
  assign cfg.read_latency = 8'd4;

  sim_pci_wires u_wires (.*);
  myri_pci_segment u_segment (
      .*,
      .pci_gated_clk({PCI_SIDES{clk}}),
      .pci_gated_needed(),
      .slot_present(1'b1),
      .trace(),
      .grants_n(pci_gnt_n),
      .requests_n(pci_req_n),
      .m66en(),
      .conflict(pci_conflict),
      .count_data(),
      .count_busy(),
      .busy(segment_busy)
  );
endmodule
