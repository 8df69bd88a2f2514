// SRAM arbiter of the NIC: up to two word accesses per clock for five requesters.
//
// Priority (paper 004, section 2.2): I/O bus first (PIO and host DMA, equal, round robin), then net receive, net send,
// processor. The first access granted in a clock goes to port a, the second to port b. A read and a write of one word
// in one clock: the read returns the old value. When both ports write one byte, port b (the lower priority) wins.
// Timing: grant in the clock of the request; read data one clock later, valid for that clock. Clock gating: `busy`
// follows the engines (requests, pending read data), not the processor, which keeps the clock running itself while it
// waits for a grant or for read data.
module myri_sram_arbiter
  import myri_sram_pkg::*;
(
    input logic clk,  // NIC clock
    input logic rst,  // synchronous reset
    input logic [1:0] cfg_accesses,  // accesses a clock, 1 or 2
    input sram_request_t pio_sram,  // host PIO and doorbells
    output logic pio_gnt,  // granted in this clock
    output sram_read_t pio_read,  // read data
    input sram_request_t dma_sram,  // host DMA
    output logic dma_gnt,  // grant
    output sram_read_t dma_read,  // read data
    input sram_request_t rx_sram,  // net receive, writes only
    output logic rx_gnt,  // grant
    input sram_request_t tx_sram,  // net send, reads only
    output logic tx_gnt,  // grant
    output sram_read_t tx_read,  // read data
    input sram_request_t cpu_sram,  // processor
    output logic cpu_gnt,  // grant
    output logic cpu_free,  // a request of the processor would be granted in this clock
    output sram_read_t cpu_read,  // read data
    output sram_request_t mem_a,  // memory port a
    input logic [63:0] mem_a_rdata,  // read data, one clock later
    output sram_request_t mem_b,  // memory port b
    input logic [63:0] mem_b_rdata,  // read data, one clock later
    output logic busy  // 1 = a further clock edge is needed
);
  localparam int PIO = 0;
  localparam int DMA = 1;
  localparam int RX = 2;
  localparam int TX = 3;
  localparam int CPU = 4;

  logic       dma_first_q;  // round robin between the two I/O requesters
  logic [4:0] request;  // in order of rank, lowest bit first
  logic [4:0] rest;
  logic [4:0] first;  // one-hot: on port a
  logic [4:0] second;  // one-hot: on port b
  logic [4:0] on_a;  // as first, by requester
  logic [4:0] on_b;
  logic [4:0] granted;
  logic [4:0] from_b_q;  // read data of the clock after come from port b
  logic [3:0] read_q;  // requesters of the read data: PIO, DMA, TX, CPU

  assign request = {
    cpu_sram.req,
    tx_sram.req,
    rx_sram.req,
    dma_first_q ? pio_sram.req : dma_sram.req,
    dma_first_q ? dma_sram.req : pio_sram.req
  };
  assign first = request & (~request + 5'd1);
  assign rest = request & ~first;
  assign second = (cfg_accesses != 2'd1) ? rest & (~rest + 5'd1) : 5'd0;
  assign on_a = {first[4:2], dma_first_q ? {first[0], first[1]} : first[1:0]};
  assign on_b = {second[4:2], dma_first_q ? {second[0], second[1]} : second[1:0]};
  assign granted = on_a | on_b;
  assign pio_gnt = granted[PIO];
  assign dma_gnt = granted[DMA];
  assign rx_gnt = granted[RX];
  assign tx_gnt = granted[TX];
  assign cpu_gnt = granted[CPU];
  assign cpu_free = request[3:0] == 4'd0 ||
      (cfg_accesses != 2'd1 && (request[3:0] & (request[3:0] - 4'd1)) == 4'd0);
  assign busy = (request[3:0] != 4'd0) || pio_read.valid || dma_read.valid || tx_read.valid;

  assign mem_a = on_a[PIO] ? pio_sram : on_a[DMA] ? dma_sram : on_a[RX] ? rx_sram :
      on_a[TX] ? tx_sram : on_a[CPU] ? cpu_sram : SRAM_IDLE;
  assign mem_b = on_b[PIO] ? pio_sram : on_b[DMA] ? dma_sram : on_b[RX] ? rx_sram :
      on_b[TX] ? tx_sram : on_b[CPU] ? cpu_sram : SRAM_IDLE;

  assign pio_read.data = from_b_q[PIO] ? mem_b_rdata : mem_a_rdata;
  assign dma_read.data = from_b_q[DMA] ? mem_b_rdata : mem_a_rdata;
  assign tx_read.data = from_b_q[TX] ? mem_b_rdata : mem_a_rdata;
  assign cpu_read.data = from_b_q[CPU] ? mem_b_rdata : mem_a_rdata;
  assign {pio_read.valid, dma_read.valid, tx_read.valid, cpu_read.valid} = read_q;

  always_ff @(posedge clk) begin
    if (rst) begin
      dma_first_q <= 1'b0;
      from_b_q <= 5'd0;
      read_q <= 4'd0;
    end else begin
      if (granted[PIO] != granted[DMA]) dma_first_q <= granted[PIO];
      if (request != 5'd0) from_b_q <= on_b;
      read_q <= {
        granted[PIO] && !pio_sram.write,
        granted[DMA] && !dma_sram.write,
        granted[TX],
        granted[CPU] && !cpu_sram.write
      };
    end
  end
endmodule
