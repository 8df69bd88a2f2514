// Checksum of a DMA block: two 16-bit ones-complement sums over its SRAM image.
//
// The SRAM is a sequence of big-endian 16-bit words: sum 0 covers those at addresses that are multiples of 4, sum 1 the
// others (their ones-complement sum is the IP checksum, not inverted). Bytes outside the block count as zero. Timing:
// one 64-bit word per clock; the sums are valid after its edge.
module myri_dma_csum (
    input  logic        clk,    // NIC clock
    input  logic        rst,    // synchronous reset
    input  logic        clear,  // start a block
    input  logic        take,   // add the current word
    input  logic [ 7:0] be,     // lanes that belong to the block
    input  logic [63:0] data,   // SRAM word
    output logic [15:0] sum0,   // over addresses 0 mod 4
    output logic [15:0] sum1    // over addresses 2 mod 4
);
  logic [63:0] part;
  for (genvar i = 0; i < 8; i++) begin : gen_lane
    assign part[8*i+:8] = be[i] ? data[8*i+:8] : 8'd0;
  end

  // Ones-complement addition (end-around carry).
  function automatic logic [15:0] add(input logic [15:0] a, input logic [15:0] b);
    logic [16:0] wide;
    wide = {1'b0, a} + {1'b0, b};
    return wide[15:0] + {15'd0, wide[16]};
  endfunction

  always_ff @(posedge clk) begin
    if (rst || clear) begin
      sum0 <= 16'd0;
      sum1 <= 16'd0;
    end else if (take) begin
      sum0 <= add(add(sum0, {part[7:0], part[15:8]}), {part[39:32], part[47:40]});
      sum1 <= add(add(sum1, {part[23:16], part[31:24]}), {part[55:48], part[63:56]});
    end
  end
endmodule
