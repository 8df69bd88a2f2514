// Arbiter of the I/O card's local memory: 64 bits per PCI clock.
//
// Priority: writes from the bus, entries of the queues, DMA, reads from the bus, the processor. A write of the bus that
// waited for the processor would block the bus, so the processor is last.
// Timing: an access is done in the clock of its grant; read data are valid one clock later.
module myri_io_memory
  import myri_sram_pkg::*;
(
    input logic clk,  // PCI clock
    input logic rst,  // synchronous reset
    input sram_request_t bus_write_sram,  // write from the bus
    output logic bus_write_gnt,  // granted
    input sram_request_t queue_sram,  // the message unit
    output logic queue_gnt,  // granted
    output sram_read_t queue_read,  // its data
    input sram_request_t dma_sram,  // the DMA engine
    output logic dma_gnt,  // granted
    output sram_read_t dma_read,  // its data
    input sram_request_t bus_read_sram,  // read from the bus
    output logic bus_read_gnt,  // granted
    output sram_read_t bus_read_read,  // its data
    input sram_request_t cpu_sram,  // the processor
    output logic cpu_gnt,  // granted
    output sram_read_t cpu_read,  // its data
    output sram_request_t mem_sram,  // the memory: an access in this clock
    input logic [63:0] mem_rdata,  // read data, one clock later
    output logic busy  // 1 = a further clock edge is needed
);
  logic [3:0] due_q;  // reads of the last clock: queue, DMA, bus, processor
  assign bus_write_gnt = bus_write_sram.req;
  assign queue_gnt = queue_sram.req && !bus_write_sram.req;
  assign dma_gnt = dma_sram.req && !bus_write_sram.req && !queue_sram.req;
  assign bus_read_gnt = bus_read_sram.req && !bus_write_sram.req && !queue_sram.req && !dma_sram.req;
  assign cpu_gnt = cpu_sram.req && !bus_write_sram.req && !queue_sram.req && !dma_sram.req && !bus_read_sram.req;
  always_comb begin
    if (bus_write_sram.req) mem_sram = bus_write_sram;
    else if (queue_sram.req) mem_sram = queue_sram;
    else if (dma_sram.req) mem_sram = dma_sram;
    else if (bus_read_sram.req) mem_sram = bus_read_sram;
    else mem_sram = cpu_sram;
  end
  always_ff @(posedge clk) begin
    if (rst) due_q <= '0;
    else
      due_q <= {
        cpu_gnt && !cpu_sram.write,
        bus_read_gnt,
        dma_gnt && !dma_sram.write,
        queue_gnt && !queue_sram.write
      };
  end
  assign queue_read.valid = due_q[0];
  assign queue_read.data = mem_rdata;
  assign dma_read.valid = due_q[1];
  assign dma_read.data = mem_rdata;
  assign bus_read_read.valid = due_q[2];
  assign bus_read_read.data = mem_rdata;
  assign cpu_read.valid = due_q[3];
  assign cpu_read.data = mem_rdata;
  assign busy = mem_sram.req || due_q != '0;
endmodule
