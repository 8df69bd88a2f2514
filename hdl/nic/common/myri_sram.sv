// SRAM of a NIC in block RAM with two ports. Simulations of a cluster use the memory in C (hdl/sim) with the same ports.
//
// Timing: read data one clock after the access. A read returns the value before writes of the same clock; where both
// ports write one byte, port b wins. Addresses wrap at the size.
//
// In a block RAM the two ports may not meet in one word unless both read: what a port reads while the other port writes
// is undefined, and so is a byte that both write. A port that writes also reads the word's old value, so the other port
// takes its read data from there; of a byte that both write, port a's write is dropped.
module myri_sram
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
  localparam int BYTES = WIDTH / 8;
  localparam int LANE = $clog2(BYTES);
  localparam logic [WIDTH-1:0] UNDEFINED = 'x;
  logic [WIDTH-1:0] mem[0:(1<<(SIZE_LOG2-LANE))-1];
  logic [SIZE_LOG2-LANE-1:0] a_word, b_word;
  logic [63:0] a_wdata, b_wdata;  // Icarus takes no variable index of a field
  logic [BYTES-1:0] a_bytes, b_bytes;  // bytes that the port writes
  logic meet;  // both ports access one word
  logic [WIDTH-1:0] a_old_q, b_old_q;  // words before the last access of each port
  logic a_crossed_q, b_crossed_q;  // the other port wrote the word, and has read it
  logic unused_ok;

  assign a_word = mem_a.addr[SIZE_LOG2-1:LANE];
  assign b_word = mem_b.addr[SIZE_LOG2-1:LANE];
  assign a_wdata = mem_a.wdata;
  assign b_wdata = mem_b.wdata;
  assign meet = mem_a.req && mem_b.req && a_word == b_word;
  assign b_bytes = mem_b.req && mem_b.write ? mem_b.be[BYTES-1:0] : '0;
  assign a_bytes = (mem_a.req && mem_a.write ? mem_a.be[BYTES-1:0] : '0) & ~(meet ? b_bytes : '0);
  assign mem_a_rdata = 64'(a_crossed_q ? b_old_q : a_old_q);
  assign mem_b_rdata = 64'(b_crossed_q ? a_old_q : b_old_q);
  assign unused_ok = ^{mem_a, mem_b};

  always_ff @(posedge clk) begin
    if (mem_a.req) begin
      a_crossed_q <= meet && mem_b.write;
      a_old_q <= mem[a_word];
      for (int i = 0; i < BYTES; i++) if (meet && b_bytes[i]) a_old_q[8*i+:8] <= UNDEFINED[8*i+:8];
    end
    if (mem_b.req) begin
      b_crossed_q <= meet && mem_a.write;
      b_old_q <= mem[b_word];
      for (int i = 0; i < BYTES; i++) if (meet && a_bytes[i]) b_old_q[8*i+:8] <= UNDEFINED[8*i+:8];
    end
    for (int i = 0; i < BYTES; i++) if (a_bytes[i]) mem[a_word][8*i+:8] <= a_wdata[8*i+:8];
    for (int i = 0; i < BYTES; i++) if (b_bytes[i]) mem[b_word][8*i+:8] <= b_wdata[8*i+:8];
  end
endmodule
