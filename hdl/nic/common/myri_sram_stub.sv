// SRAM of the NIC as an array, for synthesis and for block benches; simulations of a cluster use
// the memory in C (hdl/sim) behind the same ports.
//
// Timing: read data in the clock after the access. A read sees the value before writes of the same
// clock; where both ports write one byte, port b wins. Addresses wrap at the size.
module myri_sram_stub #(
    parameter int SIZE_LOG2 = 16,  // bytes = 2**SIZE_LOG2, 4..23
    parameter int WIDTH     = 64   // bits of a word, 32 or 64
) (
    input  logic               clk,      // NIC clock
    input  logic               a_valid,  // port a: access
    input  logic               a_write,  // 1 = write
    input  logic [       22:0] a_addr,   // byte address, multiple of a word
    input  logic [  WIDTH-1:0] a_wdata,  // write data
    input  logic [WIDTH/8-1:0] a_be,     // lanes written
    output logic [  WIDTH-1:0] a_rdata,  // read data, the clock after
    input  logic               b_valid,  // port b, likewise
    input  logic               b_write,  // 1 = write
    input  logic [       22:0] b_addr,   // byte address, multiple of a word
    input  logic [  WIDTH-1:0] b_wdata,  // write data
    input  logic [WIDTH/8-1:0] b_be,     // lanes written
    output logic [  WIDTH-1:0] b_rdata   // read data, the clock after
);
  localparam int LANE = $clog2(WIDTH / 8);
  logic [WIDTH-1:0] mem[0:(1<<(SIZE_LOG2-LANE))-1];
  logic [SIZE_LOG2-LANE-1:0] a_word;
  logic [SIZE_LOG2-LANE-1:0] b_word;
  logic unused_ok;

  assign a_word = a_addr[SIZE_LOG2-1:LANE];
  assign b_word = b_addr[SIZE_LOG2-1:LANE];
  assign unused_ok = ^{a_addr, b_addr};

  always_ff @(posedge clk) begin
    if (a_valid && !a_write) a_rdata <= mem[a_word];
    if (b_valid && !b_write) b_rdata <= mem[b_word];
    for (int i = 0; i < WIDTH / 8; i++) begin
      if (a_valid && a_write && a_be[i]) mem[a_word][8*i+:8] <= a_wdata[8*i+:8];
    end
    for (int i = 0; i < WIDTH / 8; i++) begin
      if (b_valid && b_write && b_be[i]) mem[b_word][8*i+:8] <= b_wdata[8*i+:8];
    end
  end
endmodule
