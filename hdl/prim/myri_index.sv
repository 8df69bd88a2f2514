// One-hot to binary converter: index of the bit that is set, 0 if none is.
//
// Timing: combinational, and free of glitches in a simulator, because it consists of assigns only.
module myri_index #(
    parameter int N = 8  // bits
) (
    input  logic [        N-1:0] one_hot,  // at most one of them is set
    output logic [$clog2(N)-1:0] index     // number
);
  for (genvar b = 0; b < $clog2(N); b++) begin : gen_bit
    logic [N-1:0] counted;  // positions whose index has bit b set
    for (genvar i = 0; i < N; i++) begin : gen_counted
      assign counted[i] = ((i >> b) & 1) == 1 && one_hot[i];
    end
    assign index[b] = counted != '0;
  end
endmodule
