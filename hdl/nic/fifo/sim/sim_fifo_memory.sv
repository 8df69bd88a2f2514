// Memory of a FIFO card, in C: two ports of 64 bits. At an edge reads return the old value, then writes take effect,
// port a first.
`include "doorway.svh"
module sim_fifo_memory
  import myri_sram_pkg::*;
#(
    parameter int MEMORY = 0  // number
) (
    input  logic                 clk,
    input  logic                 rst,
    input  sram_request_t        mem_a,
    output logic          [63:0] mem_a_rdata,  // one clock later
    input  sram_request_t        mem_b,
    output logic          [63:0] mem_b_rdata   // one clock later
);
  always_ff @(posedge clk) begin
    if (rst) begin
      mem_a_rdata <= '0;
      mem_b_rdata <= '0;
    end else begin
      if (mem_a.req && !mem_a.write) mem_a_rdata <= `SAN(san_mem_read) (MEMORY, {9'd0, mem_a.addr});
      if (mem_b.req && !mem_b.write) mem_b_rdata <= `SAN(san_mem_read) (MEMORY, {9'd0, mem_b.addr});
      if (mem_a.req && mem_a.write)
        `SAN(san_mem_write) (MEMORY, {9'd0, mem_a.addr}, mem_a.wdata, {24'd0, mem_a.be});
      if (mem_b.req && mem_b.write)
        `SAN(san_mem_write) (MEMORY, {9'd0, mem_b.addr}, mem_b.wdata, {24'd0, mem_b.be});
    end
  end
endmodule
