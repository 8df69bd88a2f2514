// Memory for a bench with one requester: it grants a request when `allow` is 1.
module sim_sram
  import myri_sram_pkg::*;
#(
    parameter int SIZE_LOG2 = 13,  // bytes = 2**SIZE_LOG2
    parameter int WIDTH     = 64   // bits of a word, 32 or 64
) (
    input logic clk,  // NIC clock
    input logic rst,  // synchronous reset
    input logic allow,  // the memory grants
    input sram_request_t sram,  // the request
    output logic sram_gnt,  // grant
    output sram_read_t sram_read  // read data
);
  sram_request_t access;
  logic [63:0] unused_rdata;
  logic valid_q;
  assign sram_gnt = sram.req && allow;
  assign access = sram_gnt ? sram : SRAM_IDLE;
  assign sram_read.valid = valid_q;
  always_ff @(posedge clk) valid_q <= sram_gnt && !sram.write && !rst;
  myri_sram #(
      .SIZE_LOG2(SIZE_LOG2),
      .WIDTH(WIDTH)
  ) u_sram (
      .clk(clk),
      .mem_a(access),
      .mem_a_rdata(sram_read.data),
      .mem_b(myri_sram_pkg::SRAM_IDLE),
      .mem_b_rdata(unused_rdata)
  );
endmodule
