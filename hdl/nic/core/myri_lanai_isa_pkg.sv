// The LANai's instruction set. GENERATED from pymodels/lanai/isa.py and faults.py by
// `python -m pymodels.lanai.package --sv`; edit those files, never this one.
package myri_lanai_isa_pkg;
  /* verilator lint_off UNUSEDPARAM */  // an instruction set is whole; no block uses all of it

  // Formats: a word has one where word & MASK == MATCH.
  localparam logic [31:0] RI_MASK = 32'h80000000;
  localparam logic [31:0] RI_MATCH = 32'h00000000;
  localparam logic [31:0] RM_MASK = 32'hE0000000;
  localparam logic [31:0] RM_MATCH = 32'h80000000;
  localparam logic [31:0] RRM_MASK = 32'hE0000000;
  localparam logic [31:0] RRM_MATCH = 32'hA0000000;
  localparam logic [31:0] RR_MASK = 32'hF0000000;
  localparam logic [31:0] RR_MATCH = 32'hC0000000;
  localparam logic [31:0] SPECIAL_MASK = 32'hF0000000;
  localparam logic [31:0] SPECIAL_MATCH = 32'hD0000000;
  localparam logic [31:0] BR_MASK = 32'hF0000002;
  localparam logic [31:0] BR_MATCH = 32'hE0000000;
  localparam logic [31:0] BRR_MASK = 32'hF1000002;
  localparam logic [31:0] BRR_MATCH = 32'hE1000002;
  localparam logic [31:0] SCC_MASK = 32'hF1000002;
  localparam logic [31:0] SCC_MATCH = 32'hE0000002;
  localparam logic [31:0] SLS_MASK = 32'hF0020000;
  localparam logic [31:0] SLS_MATCH = 32'hF0000000;
  localparam logic [31:0] SLI_MASK = 32'hF0030000;
  localparam logic [31:0] SLI_MATCH = 32'hF0020000;
  localparam logic [31:0] SPLS_MASK = 32'hF0038000;
  localparam logic [31:0] SPLS_MATCH = 32'hF0030000;

  // Operations of the formats RI, RR and RRM (for the address).
  typedef enum logic [2:0] {
    OP_ADD = 3'd0,
    OP_ADDC = 3'd1,
    OP_SUB = 3'd2,
    OP_SUBB = 3'd3,
    OP_AND = 3'd4,
    OP_OR = 3'd5,
    OP_XOR = 3'd6,
    OP_SHIFT = 3'd7
  } op_t;

  // Operations of the format SPECIAL.
  typedef enum logic [2:0] {
    COUNT_POPC   = 3'd1,
    COUNT_LEADZ  = 3'd2,
    COUNT_TRAILZ = 3'd3
  } count_t;

  // Conditions of branch, set, select and RR instructions; the lowest bit inverts.
  typedef enum logic [3:0] {
    CONDITION_T  = 4'd0,
    CONDITION_F  = 4'd1,
    CONDITION_HI = 4'd2,
    CONDITION_LS = 4'd3,
    CONDITION_CC = 4'd4,
    CONDITION_CS = 4'd5,
    CONDITION_NE = 4'd6,
    CONDITION_EQ = 4'd7,
    CONDITION_VC = 4'd8,
    CONDITION_VS = 4'd9,
    CONDITION_PL = 4'd10,
    CONDITION_MI = 4'd11,
    CONDITION_GE = 4'd12,
    CONDITION_LT = 4'd13,
    CONDITION_GT = 4'd14,
    CONDITION_LE = 4'd15
  } condition_t;

  // Fault of a program.
  typedef enum logic [3:0] {
    FAULT_NONE = 4'd0,
    FAULT_FETCH = 4'd1,
    FAULT_ILLEGAL = 4'd2,
    FAULT_UNALIGNED = 4'd3,
    FAULT_PART = 4'd4,
    FAULT_BEYOND = 4'd5,
    FAULT_SHADOW = 4'd6,
    FAULT_JUMP = 4'd7
  } fault_t;

  // Cause of a clock without an executed instruction.
  typedef enum logic [2:0] {
    STALL_NONE = 3'd0,
    STALL_FETCH = 3'd1,
    STALL_LOAD = 3'd2,
    STALL_GRANT = 3'd3,
    STALL_REGISTER = 3'd4
  } stall_t;
endpackage
