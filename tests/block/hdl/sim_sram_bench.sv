// The SRAM arbiter with a memory behind it, for the sram_arbiter bench.
module sim_sram_bench #(
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
    output logic cpu_free,  // a request of the processor would be
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
    output logic [WIDTH-1:0] mem_a_rdata,  // read data, the clock after
    output logic mem_b_valid,  // memory port b: access
    output logic mem_b_write,  // 1 = write
    output logic [22:0] mem_b_addr,  // byte address, multiple of a word
    output logic [WIDTH-1:0] mem_b_wdata,  // write data
    output logic [WIDTH/8-1:0] mem_b_be,  // lanes written
    output logic [WIDTH-1:0] mem_b_rdata,  // read data, the clock after
    output logic busy  // another edge is needed
);
  myri_sram_arbiter #(.WIDTH(WIDTH)) u_arbiter (.*);

  myri_sram_stub #(
      .SIZE_LOG2(12),
      .WIDTH(WIDTH)
  ) u_sram (
      .clk(clk),
      .a_valid(mem_a_valid),
      .a_write(mem_a_write),
      .a_addr(mem_a_addr),
      .a_wdata(mem_a_wdata),
      .a_be(mem_a_be),
      .a_rdata(mem_a_rdata),
      .b_valid(mem_b_valid),
      .b_write(mem_b_write),
      .b_addr(mem_b_addr),
      .b_wdata(mem_b_wdata),
      .b_be(mem_b_be),
      .b_rdata(mem_b_rdata)
  );
endmodule
