// I/O card in its own PCI segment, with its local memory, for its bench: the host bridge's CPU and memory ports and the
// port of the card's processor are brought out. With `sleep` the clock skips unneeded edges.
module sim_io_bench
  import myri_pci_pkg::*;
  import myri_settings_pkg::*;
  import myri_sram_pkg::*;
(
    input  logic        clk,           // PCI clock
    input  logic        rst,           // synchronous, active high
    input  logic        sleep,         // 1 = skip clock edges that no module needs
    input  logic [ 5:0] cfg_mem_log2,  // as the bridge
    input  logic        cfg_wide,      // 64-bit bus and card
    `include "sim_host_ports.svh"
    `include "sim_pci_ports.svh"
    output logic [ 1:0] pci_req_n,     // requests
    output logic [ 1:0] pci_gnt_n,     // grants
    output logic        pci_conflict,  // two drivers on one wire
    input  logic        io_valid,      // access of the card's processor
    output logic        io_ready,      // accepted
    input  logic        io_write,      // 1 = write
    input  logic [22:0] io_addr,       // local byte address, multiple of 4
    input  logic [31:0] io_data,       // write data
    output logic        io_rvalid,     // read data, strobe
    output logic [63:0] io_rdata,      // lane group of the read
    output logic        io_irq,        // interrupt of the processor
    output logic        intr,          // interrupt of the host
    output logic        in_flight,     // as the card
    output logic        busy,          // needs edges
    output logic [31:0] edges          // of the clock since reset
);
  pci_in_t slot_in;
  pci_out_t slot_out;
  logic [47:0] cycle;
  logic segment_busy, card_busy, gated;
  assign busy = segment_busy | card_busy;
  sim_gate u_gate (
      .*,
      .alarm(myri_sleep_pkg::NO_ALARM)
  );
  sim_bench_segment u_segment (
      .*,
      .clk(gated),
      .idle_out(),
      .idle_in()
  );

  pci_card_settings_t cfg;
  always_comb begin
    cfg.base = 32'hE000_0000;
    cfg.enabled = 1'b1;
    cfg.wide = cfg_wide;
    cfg.m66 = 1'b1;
    cfg.master.latency_timer = 8'd32;
    cfg.master.max_burst = 16'd0;
    cfg.master.start_delay = 8'd0;
    cfg.master.irdy_wait = 3'd4;
    cfg.master.line_bytes = 7'd32;
    cfg.target.devsel = 2'd1;
    cfg.target.write_initial = 4'd0;
    cfg.target.read_initial = 4'd0;
    cfg.target.subsequent = 3'd0;
    cfg.target.read_wait = 4'd10;
    cfg.target.stall_limit = 3'd4;
    cfg.target.max_phases = 8'd0;
    cfg.target.discard = 16'd32768;
  end

  sram_request_t cpu_sram, mem_sram;
  sram_read_t cpu_read;
  logic [63:0] mem_word;
  assign cpu_sram.req = io_valid;
  assign cpu_sram.write = io_write;
  assign cpu_sram.addr = io_addr;
  assign cpu_sram.be = io_addr[2] ? 8'hF0 : 8'h0F;
  assign cpu_sram.wdata = {io_data, io_data};
  assign io_rvalid = cpu_read.valid;
  assign io_rdata = cpu_read.data;
  myri_io_card u_card (
      .clk(gated),
      .rst,
      .cycle,
      .busy(card_busy),
      .in_flight,
      .pci_in(slot_in),
      .pci_out(slot_out),
      .cfg,
      .cpu_sram,
      .cpu_gnt(io_ready),
      .cpu_read,
      .cpu_irq(io_irq),
      .mem_sram,
      .mem_rdata(mem_word),
      .trace()
  );
  sim_io_memory local_memory (
      .clk(gated),
      .mem_sram,
      .mem_rdata(mem_word)
  );
endmodule
