// Generic PCI card: target, master and configuration space with their backends brought out, for benches.
`include "sim_pci_backend.svh"
module sim_pci_card
  import myri_pci_pkg::*;
  import myri_settings_pkg::*;
(
    input  logic                      clk,                // PCI clock
    input  logic                      rst,                // synchronous, active high
    input  logic               [47:0] cycle,              // index of the coming edge
    input  pci_in_t                   pci_in,             // from the connector
    output pci_out_t                  pci_out,            // to the connector
    input  logic               [31:0] base,               // BAR0 after reset
    input  logic                      inta,               // pull INTA# down
    input  logic                      cfg_wide,           // 64-bit card
    input  pci_card_settings_t        card,               // base and wide apart
    input  logic                      card_target_abort,  // see myri_pci_target
    `PCI_BACKEND_PORTS()
    output logic                      busy                // 1 = needs clock edges
);
  pci_out_t target_out, master_out;
  logic cs_write, mem_enable, master_enable, master_busy, target_busy, config_busy;
  logic [5:0] cs_reg, bar_size_log2;
  logic [31:0] cs_wdata, cs_rdata, bar_base;
  logic [3:0] cs_be;
  logic [7:0] latency_timer, interrupt_line;
  pci_write_t tw;
  pci_read_t tread;
  pci_transfer_t mc;
  pci_target_trace_t target_trace;
  pci_master_trace_t master_trace;
  assign {tw_addr, tw_data, tw_be} = tw;
  assign {tread_addr, tread_bytes} = {tread.addr, tread.bytes};
  assign mc = {mc_write, mc_addr, mc_bytes};
  assign busy = master_busy | target_busy | config_busy;

  myri_pci_config u_config (
      .*,
      .cfg_base(base),
      .cfg_enabled(1'b1),
      .busy(config_busy)
  );
  myri_pci_target u_target (
      .*,
      .cfg(card.target),
      .cfg_target_abort(card_target_abort),
      .pci_out(target_out),
      .trace(target_trace),
      .needed(),
      .busy(target_busy)
  );
  myri_pci_master u_master (
      .*,
      .cfg(card.master),
      .pci_out(master_out),
      .mc_config(1'b0),
      .trace(master_trace),
      .needed(),
      .busy(master_busy)
  );
  myri_pci_merge u_merge (
      .a_out(target_out),
      .b_out(master_out),
      .inta,
      .m66  (1'b1),
      .pci_out
  );

  logic unused;
  assign unused = &{1'b0, master_enable, latency_timer, interrupt_line, tread.first, target_trace, master_trace};
endmodule
