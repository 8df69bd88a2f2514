// The memory of a FIFO card, in C: two ports of 64 bits. At an edge reads see the old value, then writes land, port a first.
`include "doorway.svh"
module sim_fifo_memory #(
    parameter int MEMORY = 0  // its number
) (
    input  logic        clk,
    input  logic        rst,
    input  logic        mem_a_valid,
    input  logic        mem_a_write,
    input  logic [22:0] mem_a_addr,
    input  logic [63:0] mem_a_wdata,
    input  logic [ 7:0] mem_a_be,
    output logic [63:0] mem_a_rdata,  // on the clock after
    input  logic        mem_b_valid,
    input  logic        mem_b_write,
    input  logic [22:0] mem_b_addr,
    input  logic [63:0] mem_b_wdata,
    input  logic [ 7:0] mem_b_be,
    output logic [63:0] mem_b_rdata   // on the clock after
);
  always_ff @(posedge clk) begin
    if (rst) begin
      mem_a_rdata <= '0;
      mem_b_rdata <= '0;
    end else begin
      if (mem_a_valid && !mem_a_write)
        mem_a_rdata <= `SAN(san_mem_read) (MEMORY, {9'd0, mem_a_addr});
      if (mem_b_valid && !mem_b_write)
        mem_b_rdata <= `SAN(san_mem_read) (MEMORY, {9'd0, mem_b_addr});
      if (mem_a_valid && mem_a_write)
        `SAN(san_mem_write) (MEMORY, {9'd0, mem_a_addr}, mem_a_wdata, {24'd0, mem_a_be});
      if (mem_b_valid && mem_b_write)
        `SAN(san_mem_write) (MEMORY, {9'd0, mem_b_addr}, mem_b_wdata, {24'd0, mem_b_be});
    end
  end
endmodule
