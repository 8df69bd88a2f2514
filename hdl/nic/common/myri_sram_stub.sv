// SRAM of the NIC as an array, for synthesis and block benches. Simulations of a cluster use the memory in C (hdl/sim)
// with the same ports.
//
// Timing: read data one clock after the access. A read returns the value before writes of the same clock; where both
// ports write one byte, port b wins. Addresses wrap at the size.
module myri_sram_stub
  import myri_sram_pkg::*;
#(
    parameter int SIZE_LOG2 = 16,  // bytes = 2**SIZE_LOG2, 4..23
    parameter int WIDTH     = 64   // bits of a word, 32 or 64
) (
    input logic clk,  // NIC clock
    input sram_request_t mem_a,  // port a
    output logic [63:0] mem_a_rdata,  // read data, one clock later
    input sram_request_t mem_b,  // port b
    output logic [63:0] mem_b_rdata  // read data, one clock later
);
  localparam int LANE = $clog2(WIDTH / 8);
  logic [WIDTH-1:0] mem[0:(1<<(SIZE_LOG2-LANE))-1];
  logic [SIZE_LOG2-LANE-1:0] a_word;
  logic [SIZE_LOG2-LANE-1:0] b_word;
  logic [7:0] a_be, b_be;  // Icarus takes no variable index of a field
  logic [63:0] a_wdata, b_wdata;
  logic unused_ok;

  assign a_word = mem_a.addr[SIZE_LOG2-1:LANE];
  assign b_word = mem_b.addr[SIZE_LOG2-1:LANE];
  assign {a_be, a_wdata} = {mem_a.be, mem_a.wdata};
  assign {b_be, b_wdata} = {mem_b.be, mem_b.wdata};
  assign unused_ok = ^{mem_a, mem_b};

  always_ff @(posedge clk) begin
    if (mem_a.req && !mem_a.write) mem_a_rdata <= 64'(mem[a_word]);
    if (mem_b.req && !mem_b.write) mem_b_rdata <= 64'(mem[b_word]);
    for (int i = 0; i < WIDTH / 8; i++) begin
      if (mem_a.req && mem_a.write && a_be[i]) mem[a_word][8*i+:8] <= a_wdata[8*i+:8];
    end
    for (int i = 0; i < WIDTH / 8; i++) begin
      if (mem_b.req && mem_b.write && b_be[i]) mem[b_word][8*i+:8] <= b_wdata[8*i+:8];
    end
  end
endmodule
