// SRAM of a LANai 4 in block RAM, words of 32 bits, with the ports of myri_sram_arbiter.
//
// Of two writes to one byte in a clock, that of port b stays. A read of a word that the other port writes in the same
// clock is undefined.
module myri_board_sram
  import myri_sram_pkg::*;
#(
    parameter int SRAM_LOG2 = 16  // bytes = 2**SRAM_LOG2
) (
    input logic clk,  // NIC clock
    input sram_request_t mem_a,  // port a
    output logic [63:0] mem_a_rdata,  // read data, one clock later
    input sram_request_t mem_b,  // port b
    output logic [63:0] mem_b_rdata  // read data, one clock later
);
  localparam int ROW_BITS = SRAM_LOG2 - 2;

  logic [ROW_BITS-1:0] a_row, b_row;
  logic [3:0] a_write, b_write;  // lanes
  logic same;
  assign a_row = mem_a.addr[SRAM_LOG2-1:2];
  assign b_row = mem_b.addr[SRAM_LOG2-1:2];
  assign same = a_row == b_row;
  assign b_write = {4{mem_b.req && mem_b.write}} & mem_b.be[3:0];
  assign a_write = {4{mem_a.req && mem_a.write}} & mem_a.be[3:0] & ~({4{same}} & b_write);
  assign mem_a_rdata[63:32] = 32'd0;
  assign mem_b_rdata[63:32] = 32'd0;

  for (genvar i = 0; i < 4; i++) begin : gen_lane
    myri_board_lane #(
        .PLACES_LOG2(ROW_BITS)
    ) u_lane (
        .clk(clk),
        .a_en(mem_a.req && (!mem_a.write || a_write[i])),
        .a_write(mem_a.write),
        .a_addr(a_row),
        .a_wdata(mem_a.wdata[8*i+:8]),
        .a_rdata(mem_a_rdata[8*i+:8]),
        .b_en(mem_b.req && (!mem_b.write || b_write[i])),
        .b_write(mem_b.write),
        .b_addr(b_row),
        .b_wdata(mem_b.wdata[8*i+:8]),
        .b_rdata(mem_b_rdata[8*i+:8])
    );
  end

  logic unused;
  assign unused = ^{mem_a, mem_b};
endmodule
