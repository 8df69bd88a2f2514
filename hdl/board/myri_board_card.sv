// Top of a board with an FPGA card (TOP_CARD): a host, and on its PCI bus the card with its four memory banks.
//
// The ports are those of myri_board_cluster, so that a board's own top serves both. The PCI bus has the NIC clock, and the
// FPGA of the card the link clock. The board holds no NIC and no cable. Its trace ring records when the card takes a
// message and gives its result. The card starts in reset, until the host clears RESET.
module myri_board_card
  import myri_board_pkg::*;
  import myri_card_pkg::*;
  import myri_nic_trace_pkg::*;
  import myri_pci_pkg::*;
  import myri_settings_pkg::*;
#(
    parameter logic [7:0] TOP = TOP_CARD,  // TOP_CARD only
    parameter bit CORE = 1'b0,  // 0 only: no NIC, no processor
    parameter int SRAM_LOG2 = 13,  // bytes of a bank, 4..21
    parameter int MEMORY_LOG2 = 16,  // bytes of host memory
    parameter int RING_LOG2 = 8,  // records of the trace ring
    parameter int DIVISOR = 25,  // bus clocks of a bit on the serial line
    parameter int TIMEOUT = 2500000  // inactivity time-out of the serial line, bus clocks
) (
    input logic arst_n,  // asynchronous reset, active low
    input logic bus_clk,  // bus clock: serial line, registers
    input logic nic_clk,  // NIC clock: PCI bus, host memory
    input logic link_clk,  // link clock: the FPGA of the card
    input logic rxd,  // serial line from the host
    output logic txd,  // serial line to the host
    output logic [7:0] led,  // see the assignment
    input board_identity_t identity,  // hash and frequencies
    input pci_card_settings_t cfg_pci,  // of the card on the PCI bus
    input host_bridge_settings_t cfg_bridge,  // of the PCI segment
    input fpga_settings_t cfg_card  // of the card itself
);
  logic bus_rst, nic_rst, link_rst, run, latch;
  logic [ 1:0] latched_valid;
  logic [95:0] latched;
  logic [47:0] nic_cycle, link_cycle;
  logic node_valid, node_ready, node_error, bus_write;
  logic [31:0] bus_addr, bus_wdata, node_rdata;
  logic [COMPARATORS-1:0] hits;
  logic [24:0] beat_q;
  logic [PCI_IN_BITS-1:0] slot_in;
  logic [PCI_OUT_BITS-1:0] slot_out;
  pci_in_t pci_in;
  pci_out_t pci_out;
  logic mem_valid, mem_write, head_valid, head_bank, result_valid, bank_valid, bank_write;
  logic [22:0] mem_addr;
  logic [31:0] mem_wdata, mem_rdata, head_rdata, result_wdata, bank_wdata, bank_rdata;
  logic [3:0] mem_be;
  logic [18:0] head_addr, result_addr, bank_addr;
  nic_status_t no_nic;
  card_trace_t trace;
  card_shell_trace_t shell;
  logic record_valid, record_ready;
  board_record_t record;

  assign pci_in = slot_in;
  assign slot_out = pci_out;
  assign no_nic = '0;

  // A heartbeat, the serial line, and reset of the card.
  assign led = {beat_q[24], !rxd, !txd, run, 4'd0};
  always_ff @(posedge bus_clk) beat_q <= bus_rst ? 25'd0 : beat_q + 25'd1;

  myri_board_clocks u_clocks (
      .arst_n(arst_n),
      .bus_clk(bus_clk),
      .bus_reset(bus_rst),
      .run(run),
      .latch(latch),
      .latched_valid(latched_valid),
      .latched(latched),
      .nic_clk(nic_clk),
      .nic_reset(nic_rst),
      .nic_cycle(nic_cycle),
      .link_clk(link_clk),
      .link_reset(link_rst),
      .link_cycle(link_cycle)
  );
  myri_board_shell #(
      .TOP(TOP),
      .NODES(1),
      .TRACES(1),
      .CORE(CORE),
      .SRAM_LOG2(SRAM_LOG2),
      .MEMORY_LOG2(MEMORY_LOG2),
      .RING_LOG2(RING_LOG2),
      .DIVISOR(DIVISOR),
      .TIMEOUT(TIMEOUT)
  ) u_shell (
      .bus_clk(bus_clk),
      .bus_rst(bus_rst),
      .rxd(rxd),
      .txd(txd),
      .identity(identity),
      .run(run),
      .node_valid(node_valid),
      .node_ready(node_ready),
      .bus_write(bus_write),
      .bus_addr(bus_addr),
      .bus_wdata(bus_wdata),
      .node_rdata(node_rdata),
      .node_error(node_error),
      .nic_hits(hits),
      .record_valid(record_valid),
      .record_ready(record_ready),
      .records(record),
      .latch(latch),
      .latched_valid(latched_valid),
      .latched(latched)
  );
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
      .window(cfg_pci.base[31:24]),
      .bus_valid(node_valid),
      .bus_ready(node_ready),
      .bus_write(bus_write),
      .bus_addr(bus_addr),
      .bus_wdata(bus_wdata),
      .bus_rdata(node_rdata),
      .bus_error(node_error),
      .hits(hits),
      .slot_in(slot_in),
      .slot_out(slot_out),
      .intr(),
      .lanai_reset(1'b0),
      .nic(no_nic),
      .fault(4'd0),
      .pc(32'd0),
      .isr(32'd0)
  );
  myri_fpga_card u_card (
      .clk(nic_clk),
      .rst(nic_rst),
      .cycle(nic_cycle),
      .busy(),
      .f_clk(link_clk),
      .f_rst(link_rst),
      .f_busy(),
      .pci_in(pci_in),
      .pci_out(pci_out),
      .cfg_pci(cfg_pci),
      .cfg(cfg_card),
      .mem_valid(mem_valid),
      .mem_write(mem_write),
      .mem_addr(mem_addr),
      .mem_wdata(mem_wdata),
      .mem_be(mem_be),
      .mem_rdata(mem_rdata),
      .head_valid(head_valid),
      .head_bank(head_bank),
      .head_addr(head_addr),
      .head_rdata(head_rdata),
      .result_valid(result_valid),
      .result_addr(result_addr),
      .result_wdata(result_wdata),
      .bank_valid(bank_valid),
      .bank_write(bank_write),
      .bank_addr(bank_addr),
      .bank_wdata(bank_wdata),
      .bank_rdata(bank_rdata),
      .trace(trace)
  );
  myri_card_memory #(
      .BANK_LOG2(SRAM_LOG2)
  ) u_memory (
      .clk(nic_clk),
      .mem_valid(mem_valid),
      .mem_write(mem_write),
      .mem_addr(mem_addr),
      .mem_wdata(mem_wdata),
      .mem_be(mem_be),
      .mem_rdata(mem_rdata),
      .f_clk(link_clk),
      .head_valid(head_valid),
      .head_bank(head_bank),
      .head_addr(head_addr),
      .head_rdata(head_rdata),
      .result_valid(result_valid),
      .result_addr(result_addr),
      .result_wdata(result_wdata),
      .bank_valid(bank_valid),
      .bank_write(bank_write),
      .bank_addr(bank_addr),
      .bank_wdata(bank_wdata),
      .bank_rdata(bank_rdata)
  );

  // Trace: a message is taken after the last of the eight words of its header was read.
  localparam int TAKE = 0, GIVE = 1, SOURCES = 2;  // sources of the link clock
  localparam logic [19:0] UNIT = 20'(PART_FPGA);
  logic [19:0] read_q;  // bank and word that were read last
  logic [31:0] taken_at;  // byte offset of the message in the card
  logic [SOURCES-1:0] strobe;
  board_event_t [SOURCES-1:0] events;
  assign shell = trace.shell;
  assign taken_at = {10'd0, read_q[19], read_q[18:0] - 19'd7, 2'd0};
  assign strobe[TAKE] = shell.take;
  assign strobe[GIVE] = shell.give;
  assign events[TAKE] = {EV_CARD_TAKE, UNIT, shell.key, taken_at, 32'd0, 32'd0};
  assign events[GIVE] = {EV_CARD_GIVE, UNIT, shell.key, 32'd0, 32'd0, 32'd0};
  always_ff @(posedge link_clk) if (head_valid) read_q <= {head_bank, head_addr};

  myri_board_traced #(
      .SOURCES(SOURCES),
      .CLOCK  (CLOCK_LINK)
  ) u_trace (
      .src_clk(link_clk),
      .src_rst(link_rst),
      .cycle(link_cycle),
      .strobe(strobe),
      .events(events),
      .bus_clk(bus_clk),
      .bus_rst(bus_rst),
      .record_valid(record_valid),
      .record_ready(record_ready),
      .record(record)
  );

  logic unused;
  assign unused = ^trace;
endmodule
