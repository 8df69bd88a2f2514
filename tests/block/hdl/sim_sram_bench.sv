// SRAM arbiter with a memory, for the sram_arbiter bench.
module sim_sram_bench
  import myri_sram_pkg::*;
#(
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
    output logic dma_gnt,  // grant
    input logic dma_write,  // 1 = write
    input logic [22:0] dma_addr,  // byte address, multiple of a word
    input logic [WIDTH-1:0] dma_wdata,  // write data
    input logic [WIDTH/8-1:0] dma_be,  // lanes written
    output logic dma_rvalid,  // read data valid
    output logic [WIDTH-1:0] dma_rdata,  // read data
    input logic rx_req,  // net receive, writes only
    output logic rx_gnt,  // grant
    input logic [22:0] rx_addr,  // byte address, multiple of a word
    input logic [WIDTH-1:0] rx_wdata,  // write data
    input logic [WIDTH/8-1:0] rx_be,  // lanes written
    input logic tx_req,  // net send, reads only
    output logic tx_gnt,  // grant
    input logic [22:0] tx_addr,  // byte address, multiple of a word
    output logic tx_rvalid,  // read data valid
    output logic [WIDTH-1:0] tx_rdata,  // read data
    input logic cpu_req,  // processor
    output logic cpu_gnt,  // grant
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
    output logic [WIDTH-1:0] mem_a_rdata,  // read data, one clock later
    output logic mem_b_valid,  // memory port b: access
    output logic mem_b_write,  // 1 = write
    output logic [22:0] mem_b_addr,  // byte address, multiple of a word
    output logic [WIDTH-1:0] mem_b_wdata,  // write data
    output logic [WIDTH/8-1:0] mem_b_be,  // lanes written
    output logic [WIDTH-1:0] mem_b_rdata,  // read data, one clock later
    output logic busy  // 1 = a further clock edge is needed
);
  sram_request_t pio_sram, dma_sram, rx_sram, tx_sram, cpu_sram, mem_a, mem_b;
  sram_read_t pio_read, dma_read, tx_read, cpu_read;
  logic [63:0] a_rdata, b_rdata;
  assign pio_sram = {pio_req, pio_write, pio_addr, 8'(pio_be), 64'(pio_wdata)};
  assign dma_sram = {dma_req, dma_write, dma_addr, 8'(dma_be), 64'(dma_wdata)};
  assign rx_sram = {rx_req, 1'b1, rx_addr, 8'(rx_be), 64'(rx_wdata)};
  assign tx_sram = {tx_req, 1'b0, tx_addr, 8'd0, 64'd0};
  assign cpu_sram = {cpu_req, cpu_write, cpu_addr, 8'(cpu_be), 64'(cpu_wdata)};
  assign {pio_rvalid, dma_rvalid, tx_rvalid, cpu_rvalid} = {
    pio_read.valid, dma_read.valid, tx_read.valid, cpu_read.valid
  };
  assign pio_rdata = WIDTH'(pio_read.data);
  assign dma_rdata = WIDTH'(dma_read.data);
  assign tx_rdata = WIDTH'(tx_read.data);
  assign cpu_rdata = WIDTH'(cpu_read.data);
  assign {mem_a_valid, mem_a_write, mem_a_addr} = {mem_a.req, mem_a.write, mem_a.addr};
  assign {mem_b_valid, mem_b_write, mem_b_addr} = {mem_b.req, mem_b.write, mem_b.addr};
  assign {mem_a_be, mem_a_wdata, mem_a_rdata} = {
    mem_a.be[WIDTH/8-1:0], mem_a.wdata[WIDTH-1:0], a_rdata[WIDTH-1:0]
  };
  assign {mem_b_be, mem_b_wdata, mem_b_rdata} = {
    mem_b.be[WIDTH/8-1:0], mem_b.wdata[WIDTH-1:0], b_rdata[WIDTH-1:0]
  };
  myri_sram_arbiter u_arbiter (
      .*,
      .mem_a_rdata(a_rdata),
      .mem_b_rdata(b_rdata)
  );
  myri_sram #(
      .SIZE_LOG2(12),
      .WIDTH(WIDTH)
  ) u_sram (
      .*,
      .mem_a_rdata(a_rdata),
      .mem_b_rdata(b_rdata)
  );
endmodule
