// Bit counts of a word: ones, leading zeros, trailing zeros.
//
// The zeros before the first one from either end are the ones of another word, so one adder tree counts all three.
// Timing: combinational.
module myri_lanai_count
  import myri_lanai_isa_pkg::*;
(
    input logic [2:0] op,  // COUNT_*
    input logic [31:0] a,  // word
    output logic [5:0] count  // 0..32
);
  logic [31:0]
      below_1, below_2, below_4, below_8, below_all;  // a one wherever a has one, or above it
  assign below_1   = a | a >> 1;
  assign below_2   = below_1 | below_1 >> 2;
  assign below_4   = below_2 | below_2 >> 4;
  assign below_8   = below_4 | below_4 >> 8;
  assign below_all = below_8 | below_8 >> 16;

  logic [31:0] counted, pairs, nibbles, bytes;
  assign counted = op == COUNT_POPC ? a : op == COUNT_LEADZ ? ~below_all : ~a & (a - 32'd1);
  assign pairs   = (counted & 32'h55555555) + (counted >> 1 & 32'h55555555);
  assign nibbles = (pairs & 32'h33333333) + (pairs >> 2 & 32'h33333333);
  assign bytes   = (nibbles & 32'h0F0F0F0F) + (nibbles >> 4 & 32'h0F0F0F0F);
  assign count   = bytes[5:0] + bytes[13:8] + bytes[21:16] + bytes[29:24];
  logic unused_ok;
  assign unused_ok = ^bytes;
endmodule
