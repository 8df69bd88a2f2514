// Arithmetic unit of a LANai's processor: results, addresses, and the flags that a result leaves.
//
// A shift goes to the left by a positive amount, to the right by a negative one; beyond 31 only five bits of the amount
// count (assumed: it is not defined there). Timing: combinational.
module myri_lanai_alu
  import myri_lanai_isa_pkg::*;
(
    input logic [2:0] op,  // OP_*
    input logic arithmetic,  // shift to the right: the sign is repeated
    input logic [31:0] a,  // first operand
    input logic [31:0] b,  // second operand
    input logic carry,  // C before, of addc and subb
    output logic [31:0] value,  // a op b
    output logic carry_out,  // C after: of a sum its carry, of a shift to the left the last bit that left
    output logic overflow  // V after
);
  logic [31:0] second;
  logic [32:0] total;
  logic [32:0] left;  // bit 32: the last bit that left
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
