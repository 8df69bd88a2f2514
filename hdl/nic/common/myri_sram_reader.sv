// Reader of consecutive SRAM words as a stream.
//
// Timing: first request one clock after `start`, one word per clock while granted and accepted. At most one word waits,
// so no word is read without a place for it. Clock gating: `busy` while it requests or moves words.
module myri_sram_reader
  import myri_sram_pkg::*;
#(
    parameter int WIDTH = 64  // bits of a word of SRAM, 32 or 64
) (
    input logic clk,  // NIC clock
    input logic rst,  // synchronous reset
    input logic start,  // strobe: read `count` words from `addr` (only when idle)
    input logic [22-$clog2(WIDTH/8):0] addr,  // word address
    input logic [29:0] count,  // words, not 0
    output sram_request_t sram,  // SRAM request
    input logic sram_gnt,  // grant
    input sram_read_t sram_read,  // read data
    output logic out_valid,  // a word is available
    input logic out_ready,  // accepted at the coming edge
    output logic [WIDTH-1:0] out_data,  // word
    output logic busy  // 1 = a further clock edge is needed
);
  localparam int LANE = $clog2(WIDTH / 8);
  logic [22-LANE:0] next_q;
  logic [     29:0] left_q;
  logic             held_q;
  logic [WIDTH-1:0] word_q;

  assign sram.req = left_q != 30'd0 && !held_q && !(sram_read.valid && !out_ready);
  assign sram.addr = {next_q, LANE'(0)};
  assign {sram.write, sram.be, sram.wdata} = '0;
  assign out_valid = sram_read.valid || held_q;
  assign out_data = held_q ? word_q : sram_read.data[WIDTH-1:0];
  assign busy = start || sram.req || sram_read.valid || (held_q && out_ready);

  always_ff @(posedge clk) begin
    if (rst) begin
      next_q <= '0;
      left_q <= 30'd0;
      held_q <= 1'b0;
      word_q <= '0;
    end else begin
      held_q <= out_valid && !out_ready;
      if (sram_read.valid && !out_ready) word_q <= sram_read.data[WIDTH-1:0];
      if (start) begin
        next_q <= addr;
        left_q <= count;
      end else if (sram.req && sram_gnt) begin
        next_q <= next_q + 1'b1;
        left_q <= left_q - 30'd1;
      end
    end
  end
endmodule
