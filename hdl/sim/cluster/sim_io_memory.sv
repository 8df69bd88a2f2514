// Local memory of the I/O card in C, read data one clock later.
`include "doorway.svh"
module sim_io_memory
  import myri_sram_pkg::*;
#(
    parameter int MEMORY = 0  // the memory's number
) (
    input logic clk,
    input sram_request_t mem_sram,
    output logic [63:0] mem_rdata
);
  int at, enables;
  always_ff @(posedge clk) begin
    at = {9'd0, mem_sram.addr[22:3], 3'd0};
    enables = {24'd0, mem_sram.be};
    if (mem_sram.req && mem_sram.write) `SAN(san_mem_write) (MEMORY, at, mem_sram.wdata, enables);
    if (mem_sram.req && !mem_sram.write) mem_rdata <= `SAN(san_mem_read) (MEMORY, at);
  end
endmodule
