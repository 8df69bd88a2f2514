// SRAM arbiter of the NIC: up to two accesses of a word a clock for five requesters.
//
// Rank (paper 004, section 2.2): I/O bus first (PIO and host DMA, equals, round robin), then net
// receive, net send, processor. The first access granted in a clock goes to port a, the second to
// port b. A read and a write of one word in one clock: the read sees the old value; when both
// ports write one byte, port b (the lower rank) wins.
// Timing: grant in the clock of the request; read data in the clock after, valid for that clock.
// Sleeping: `busy` follows the engines (requests, read data on their way), not the processor, which
// keeps the clock awake itself while it waits for a grant or for read data.
module myri_sram_arbiter #(
    parameter int WIDTH = 64  // bits of a word of SRAM, 32 or 64
) (
    input logic clk,  // NIC clock
    input logic rst,  // synchronous reset
    input logic [1:0] cfg_accesses,  // accesses a clock, 1 or 2
    input logic pio_req,  // host PIO and doorbells: request
    output logic pio_gnt,  // granted in this clock
    input logic pio_write,  // 1 = write
    input logic [22:0] pio_addr,  // byte address, multiple of a word
    input logic [WIDTH-1:0] pio_wdata,  // write data, lane i = byte pio_addr+i
    input logic [WIDTH/8-1:0] pio_be,  // lanes written
    output logic pio_rvalid,  // pio_rdata holds the word granted in the clock before
    output logic [WIDTH-1:0] pio_rdata,  // read data
    input logic dma_req,  // host DMA, likewise
    output logic dma_gnt,  // granted
    input logic dma_write,  // 1 = write
    input logic [22:0] dma_addr,  // byte address, multiple of a word
    input logic [WIDTH-1:0] dma_wdata,  // write data
    input logic [WIDTH/8-1:0] dma_be,  // lanes written
    output logic dma_rvalid,  // read data valid
    output logic [WIDTH-1:0] dma_rdata,  // read data
    input logic rx_req,  // net receive, writes only
    output logic rx_gnt,  // granted
    input logic [22:0] rx_addr,  // byte address, multiple of a word
    input logic [WIDTH-1:0] rx_wdata,  // write data
    input logic [WIDTH/8-1:0] rx_be,  // lanes written
    input logic tx_req,  // net send, reads only
    output logic tx_gnt,  // granted
    input logic [22:0] tx_addr,  // byte address, multiple of a word
    output logic tx_rvalid,  // read data valid
    output logic [WIDTH-1:0] tx_rdata,  // read data
    input logic cpu_req,  // processor
    output logic cpu_gnt,  // granted
    output logic cpu_free,  // a request of the processor would be, in this clock
    input logic cpu_write,  // 1 = write
    input logic [22:0] cpu_addr,  // byte address, multiple of a word
    input logic [WIDTH-1:0] cpu_wdata,  // write data
    input logic [WIDTH/8-1:0] cpu_be,  // lanes written
    output logic cpu_rvalid,  // read data valid
    output logic [WIDTH-1:0] cpu_rdata,  // read data
    output logic mem_a_valid,  // memory port a: access
    output logic mem_a_write,  // 1 = write
    output logic [22:0] mem_a_addr,  // byte address, multiple of a word
    output logic [WIDTH-1:0] mem_a_wdata,  // write data
    output logic [WIDTH/8-1:0] mem_a_be,  // lanes written
    input logic [WIDTH-1:0] mem_a_rdata,  // read data, the clock after
    output logic mem_b_valid,  // memory port b: access
    output logic mem_b_write,  // 1 = write
    output logic [22:0] mem_b_addr,  // byte address, multiple of a word
    output logic [WIDTH-1:0] mem_b_wdata,  // write data
    output logic [WIDTH/8-1:0] mem_b_be,  // lanes written
    input logic [WIDTH-1:0] mem_b_rdata,  // read data, the clock after
    output logic busy  // another edge is needed
);
  localparam int PIO = 0;
  localparam int DMA = 1;
  localparam int RX = 2;
  localparam int TX = 3;
  localparam int CPU = 4;

  logic       dma_first;  // round robin between the two I/O requesters
  logic [4:0] request;  // in order of rank, lowest bit first
  logic [4:0] rest;
  logic [4:0] first;  // one-hot: on port a
  logic [4:0] second;  // one-hot: on port b
  logic [4:0] on_a;  // as first, by requester
  logic [4:0] on_b;
  logic [4:0] granted;
  logic [4:0] from_b;  // read data of the clock after come from port b

  assign request = {
    cpu_req, tx_req, rx_req, dma_first ? pio_req : dma_req, dma_first ? dma_req : pio_req
  };
  assign first = request & (~request + 5'd1);
  assign rest = request & ~first;
  assign second = (cfg_accesses != 2'd1) ? rest & (~rest + 5'd1) : 5'd0;
  assign on_a = {first[4:2], dma_first ? {first[0], first[1]} : first[1:0]};
  assign on_b = {second[4:2], dma_first ? {second[0], second[1]} : second[1:0]};
  assign granted = on_a | on_b;
  assign pio_gnt = granted[PIO];
  assign dma_gnt = granted[DMA];
  assign rx_gnt = granted[RX];
  assign tx_gnt = granted[TX];
  assign cpu_gnt = granted[CPU];
  assign cpu_free = request[3:0] == 4'd0 ||
      (cfg_accesses != 2'd1 && (request[3:0] & (request[3:0] - 4'd1)) == 4'd0);
  assign busy = (request[3:0] != 4'd0) || pio_rvalid || dma_rvalid || tx_rvalid;

  assign mem_a_valid = request != 5'd0;
  assign mem_b_valid = second != 5'd0;

  assign mem_a_write = on_a[RX] || (on_a[PIO] && pio_write) || (on_a[DMA] && dma_write) ||
      (on_a[CPU] && cpu_write);
  assign mem_a_addr = on_a[PIO] ? pio_addr : on_a[DMA] ? dma_addr : on_a[RX] ? rx_addr :
      on_a[TX] ? tx_addr : cpu_addr;
  assign mem_a_wdata = on_a[PIO] ? pio_wdata : on_a[DMA] ? dma_wdata : on_a[RX] ? rx_wdata : cpu_wdata;
  assign mem_a_be = on_a[PIO] ? pio_be : on_a[DMA] ? dma_be : on_a[RX] ? rx_be : cpu_be;

  assign mem_b_write = on_b[RX] || (on_b[PIO] && pio_write) || (on_b[DMA] && dma_write) ||
      (on_b[CPU] && cpu_write);
  assign mem_b_addr = on_b[PIO] ? pio_addr : on_b[DMA] ? dma_addr : on_b[RX] ? rx_addr :
      on_b[TX] ? tx_addr : cpu_addr;
  assign mem_b_wdata = on_b[PIO] ? pio_wdata : on_b[DMA] ? dma_wdata : on_b[RX] ? rx_wdata : cpu_wdata;
  assign mem_b_be = on_b[PIO] ? pio_be : on_b[DMA] ? dma_be : on_b[RX] ? rx_be : cpu_be;

  assign pio_rdata = from_b[PIO] ? mem_b_rdata : mem_a_rdata;
  assign dma_rdata = from_b[DMA] ? mem_b_rdata : mem_a_rdata;
  assign tx_rdata = from_b[TX] ? mem_b_rdata : mem_a_rdata;
  assign cpu_rdata = from_b[CPU] ? mem_b_rdata : mem_a_rdata;

  always_ff @(posedge clk) begin
    if (rst) begin
      dma_first <= 1'b0;
      from_b <= 5'd0;
      pio_rvalid <= 1'b0;
      dma_rvalid <= 1'b0;
      tx_rvalid <= 1'b0;
      cpu_rvalid <= 1'b0;
    end else begin
      if (granted[PIO] != granted[DMA]) dma_first <= granted[PIO];
      if (request != 5'd0) from_b <= on_b;
      pio_rvalid <= granted[PIO] && !pio_write;
      dma_rvalid <= granted[DMA] && !dma_write;
      tx_rvalid  <= granted[TX];
      cpu_rvalid <= granted[CPU] && !cpu_write;
    end
  end
endmodule
