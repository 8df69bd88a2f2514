// ALU of a LANai's processor: results, addresses, and flags.
//
// A positive shift amount shifts left, a negative one right; beyond 31 only five bits of the amount count (assumed,
// because undefined). Timing: combinational.
module myri_lanai_alu
  import myri_lanai_isa_pkg::*;
(
    input logic [2:0] op,  // OP_*
    input logic arithmetic,  // shift right: repeat the sign bit
    input logic [31:0] a,  // first operand
    input logic [31:0] b,  // second operand
    input logic carry,  // C before, of addc and subb
    output logic [31:0] value,  // a op b
    output logic carry_out,  // C after: carry of a sum, or last bit shifted out to the left
    output logic overflow  // V after
);
  logic [31:0] second;
  logic [32:0] total;
  logic [32:0] left;  // bit 32: last bit shifted out
  logic [ 4:0] right_by;
  logic subtracts, carry_in;
  assign subtracts = op[1];
  assign second = subtracts ? ~b : b;
  assign carry_in = op[0] ? carry : subtracts;
  assign total = {1'b0, a} + {1'b0, second} + {32'd0, carry_in};
  assign left = {1'b0, a} << b[4:0];
  assign right_by = 5'd0 - b[4:0];

  always_comb begin
    case (op)
      OP_AND: value = a & b;
      OP_OR: value = a | b;
      OP_XOR: value = a ^ b;
      OP_SHIFT:
      value = !b[31] ? left[31:0] : arithmetic ? 32'($signed(a) >>> right_by) : a >> right_by;
      default: value = total[31:0];
    endcase
  end
  assign carry_out = !op[2] ? total[32] : op == OP_SHIFT && !b[31] && left[32];
  assign overflow  = !op[2] && a[31] == second[31] && total[31] != a[31];
endmodule
