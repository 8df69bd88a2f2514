// I/O card of a node with its run-time settings, local memory and processor, which is the CPU of sim_host at the card's
// port: it accesses registers and local memory, and its interrupt has the same latency as that of a host.
module sim_io
  import myri_pci_pkg::*;
  import myri_settings_pkg::*;
  import myri_sram_pkg::*;
  import sim_settings_pkg::*;
  import sim_trace_pkg::*;
#(
    parameter int BASE   = 0,  // settings unit, and first trace unit, of the node
    parameter int SLOT   = 3,  // connector on the bus
    parameter int MEMORY = 0   // number of the local memory
) (
    input  logic            clk,
    input  logic            rst,
    input  logic            off,        // the card has no supply
    input  logic     [47:0] cycle,
    output logic            busy,
    output logic            in_flight,
    input  pci_in_t         pci_in,
    output pci_out_t        pci_out
);
  pci_card_settings_t shared_q, cfg;
  always_ff @(posedge clk) if (rst) shared_q <= pci_card_settings(BASE);
  always_comb begin
    cfg = shared_q;  // with the NIC, but for these
    cfg.base = 32'hE000_0000 + 32'(SLOT) * 32'h0100_0000;
    cfg.wide = 1'b0;
    cfg.m66 = 1'b0;
  end

  sram_request_t cpu_sram, mem_sram;
  sram_read_t cpu_read;
  logic [63:0] mem_word;
  logic flies, card_busy, cpu_busy, irq_busy, cpu_irq, granted;
  logic cpu_valid, cpu_ready, cpu_write, cpu_wc, cpu_fence;
  logic [31:0] cpu_addr;
  logic [63:0] cpu_data;
  logic [ 7:0] cpu_be;
  assign cpu_sram.req = cpu_valid && !cpu_fence;
  assign cpu_sram.write = cpu_write;
  assign cpu_sram.addr = {cpu_addr[22:3], cpu_be[3:0] == 4'd0, 2'd0};
  assign cpu_sram.be = cpu_be;
  assign cpu_sram.wdata = cpu_data;
  // Without power, accesses end at once, so that those of a processor that has stopped do not block its port.
  logic lost_q;
  always_ff @(posedge clk) lost_q <= !rst && off && cpu_valid && !cpu_fence && !cpu_write;
  assign cpu_ready = cpu_fence || granted || off;
  myri_io_card card (
      .clk,
      .rst(rst || off),
      .cycle,
      .busy(card_busy),
      .in_flight(flies),
      .pci_in,
      .pci_out,
      .cfg,
      .cpu_sram,
      .cpu_gnt(granted),
      .cpu_read,
      .cpu_irq,
      .mem_sram,
      .mem_rdata(mem_word),
      .trace()
  );
  sim_io_memory #(
      .MEMORY(MEMORY)
  ) local_memory (
      .clk,
      .mem_sram,
      .mem_rdata(mem_word)
  );
  sim_host #(
      .UNIT  (BASE + PART_IO_CPU),
      .MEMORY(MEMORY)
  ) processor (
      .clk,
      .rst,
      .mem_valid(1'b0),
      .mem_write(1'b0),
      .mem_addr(32'd0),
      .mem_wdata(64'd0),
      .mem_be(8'd0),
      .mem_rdata(),
      .cpu_valid,
      .cpu_ready,
      .cpu_write,
      .cpu_addr,
      .cpu_data,
      .cpu_be,
      .cpu_wc,
      .cpu_fence,
      .cpu_rvalid(cpu_read.valid || lost_q),
      .cpu_rdata(cpu_read.data),
      .tr_pio_done(1'b0),
      .tr_pio_error(1'b0),
      .busy(cpu_busy)
  );
  sim_interrupt #(
      .UNIT(BASE + PART_IO_CPU)
  ) interrupt (
      .clk,
      .rst,
      .intr(cpu_irq),
      .busy(irq_busy)
  );
  assign busy = (card_busy && !off) || cpu_busy || irq_busy;
  assign in_flight = flies && !off;

  logic unused;
  assign unused = &{1'b0, cpu_wc, cpu_addr};
endmodule
