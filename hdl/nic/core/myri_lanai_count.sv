// Counts of bits of a word: ones, leading zeros, trailing zeros.
//
// Timing: combinational.
module myri_lanai_count
  import myri_lanai_isa_pkg::*;
(
    input logic [2:0] op,  // COUNT_*
    input logic [31:0] a,  // the word
    output logic [5:0] count  // 0..32
);
  logic [5:0] ones, leading, trailing;
  always_comb begin
    ones = 6'd0;
    leading = 6'd32;
    trailing = 6'd32;
    for (int i = 0; i < 32; i++) begin
      ones = ones + {5'd0, a[i]};
      if (a[i]) leading = 6'(31 - i);
      if (a[31-i]) trailing = 6'(31 - i);
    end
  end
  assign count = op == COUNT_POPC ? ones : op == COUNT_LEADZ ? leading : trailing;
endmodule
