// FPGA card in its own PCI segment, with its SRAM and a fabric clock, for its bench: the host bridge's CPU and memory
// ports are brought out; host memory also acts as the NIC. With `sleep` both clocks skip unneeded edges.
module sim_card_bench
  import myri_card_pkg::*;
  import myri_pci_pkg::*;
  import myri_settings_pkg::*;
(
    input  logic        clk,              // PCI clock
    input  logic        f_clk,            // fabric clock
    input  logic        rst,              // synchronous, active high, both clocks
    input  logic        sleep,            // 1 = skip clock edges that no module needs
    input  logic [ 5:0] cfg_mem_log2,     // as the bridge
    input  logic        cfg_wide,         // 64-bit bus and card
    input  logic [15:0] cfg_patience,     // as the card
    input  logic [ 7:0] cfg_config_wait,  // as the card
    `include "sim_host_ports.svh"
    `include "sim_pci_ports.svh"
    output logic [ 1:0] pci_req_n,        // requests
    output logic [ 1:0] pci_gnt_n,        // grants
    output logic        pci_conflict,     // two drivers on one wire
    output logic [ 3:0] ev_patience,      // as the card
    output logic        ev_mailbox,       // as the card
    output logic        ev_trespass,      // as the card
    output logic        tr_take,          // as the card
    output logic        tr_give,          // as the card
    output logic [31:0] tr_key,           // as the card
    output logic        both_accessed,    // an access of a bank by both sides, ever
    output logic        busy,             // PCI clock: needs edges
    output logic        f_busy,           // fabric clock: needs edges
    output logic [31:0] edges,            // of the PCI clock since reset
    output logic [31:0] f_edges           // of the fabric clock
);
  pci_in_t slot_in;
  pci_out_t slot_out;
  logic [47:0] cycle;
  logic segment_busy, card_busy, gated, f_gated;
  assign busy = segment_busy | card_busy;

  sim_gate u_gate (
      .*,
      .busy,
      .alarm(myri_sleep_pkg::NO_ALARM)
  );
  sim_gate u_f_gate (
      .clk  (f_clk),
      .rst,
      .sleep,
      .busy (f_busy),
      .alarm(myri_sleep_pkg::NO_ALARM),
      .gated(f_gated),
      .cycle(),
      .edges(f_edges)
  );

  sim_bench_segment u_segment (
      .*,
      .clk(gated),
      .intr(),
      .idle_out(),
      .idle_in()
  );

  logic h_valid, h_write, head_valid, head_bank, result_valid, bank_valid, bank_write;
  logic [22:0] h_addr;
  logic [31:0] h_wdata, h_rdata, head_rdata, result_wdata, bank_wdata, bank_rdata;
  logic [3:0] h_be;
  logic [18:0] head_addr, result_addr, bank_addr;
  fpga_settings_t cfg;
  pci_card_settings_t cfg_pci;
  always_comb begin
    cfg = '0;  // what the card shares is in cfg_pci
    cfg_pci.base = 32'hE000_0000;
    cfg.cdc_latency = 4'd1;
    cfg_pci.m66 = 1'b1;
    cfg_pci.master.latency_timer = 8'd32;
    cfg_pci.master.max_burst = 16'd0;
    cfg_pci.master.start_delay = 8'd0;
    cfg_pci.master.irdy_wait = 3'd4;
    cfg_pci.master.line_bytes = 7'd32;
    cfg_pci.target.devsel = 2'd1;
    cfg_pci.target.write_initial = 4'd0;
    cfg_pci.target.read_initial = 4'd0;
    cfg_pci.target.subsequent = 3'd0;
    cfg_pci.target.read_wait = 4'd10;
    cfg_pci.target.stall_limit = 3'd4;
    cfg_pci.target.max_phases = 8'd0;
    cfg_pci.target.discard = 16'd32768;
    cfg.linger = 8'd8;
    cfg.pause = 8'd16;
    cfg_pci.enabled = 1'b1;
    cfg_pci.wide = cfg_wide;
    cfg.patience = cfg_patience;
    cfg.config_wait = cfg_config_wait;
  end
  card_trace_t trace;
  card_shell_trace_t shell;
  assign shell = trace.shell;
  assign {ev_patience, ev_mailbox, ev_trespass} = {trace.patience, trace.mailbox, trace.trespass};
  assign {tr_take, tr_give, tr_key} = shell;
  logic unused_trace;
  assign unused_trace = ^trace;
  myri_fpga_card u_card (
      .*,
      .clk(gated),
      .f_clk(f_gated),
      .busy(card_busy),
      .f_rst(rst),
      .pci_in(slot_in),
      .pci_out(slot_out),
      .mem_valid(h_valid),
      .mem_write(h_write),
      .mem_addr(h_addr),
      .mem_wdata(h_wdata),
      .mem_be(h_be),
      .mem_rdata(h_rdata),
      .trace
  );

  sim_card_memory sram (
      .clk(gated),
      .f_clk(f_gated),
      .mem_valid(h_valid),
      .mem_write(h_write),
      .mem_addr(h_addr),
      .mem_wdata(h_wdata),
      .mem_be(h_be),
      .mem_rdata(h_rdata),
      .*
  );

  // The bus side accesses no bank that the FPGA owns.
  always_ff @(posedge clk) begin
    if (rst) both_accessed <= 1'b0;
    else if (h_valid && u_card.want[h_addr[22:21]] && u_card.granted[h_addr[22:21]])
      both_accessed <= 1'b1;
  end
endmodule
