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
  localparam logic [2:0] OP_ADD = 3'h0;
  localparam logic [2:0] OP_ADDC = 3'h1;
  localparam logic [2:0] OP_SUB = 3'h2;
  localparam logic [2:0] OP_SUBB = 3'h3;
  localparam logic [2:0] OP_AND = 3'h4;
  localparam logic [2:0] OP_OR = 3'h5;
  localparam logic [2:0] OP_XOR = 3'h6;
  localparam logic [2:0] OP_SHIFT = 3'h7;

  // Operations of the format SPECIAL.
  localparam logic [2:0] COUNT_POPC = 3'h1;
  localparam logic [2:0] COUNT_LEADZ = 3'h2;
  localparam logic [2:0] COUNT_TRAILZ = 3'h3;

  // Conditions of branch, set, select and RR instructions; the lowest bit inverts.
  localparam logic [3:0] CONDITION_T = 4'h0;
  localparam logic [3:0] CONDITION_F = 4'h1;
  localparam logic [3:0] CONDITION_HI = 4'h2;
  localparam logic [3:0] CONDITION_LS = 4'h3;
  localparam logic [3:0] CONDITION_CC = 4'h4;
  localparam logic [3:0] CONDITION_CS = 4'h5;
  localparam logic [3:0] CONDITION_NE = 4'h6;
  localparam logic [3:0] CONDITION_EQ = 4'h7;
  localparam logic [3:0] CONDITION_VC = 4'h8;
  localparam logic [3:0] CONDITION_VS = 4'h9;
  localparam logic [3:0] CONDITION_PL = 4'hA;
  localparam logic [3:0] CONDITION_MI = 4'hB;
  localparam logic [3:0] CONDITION_GE = 4'hC;
  localparam logic [3:0] CONDITION_LT = 4'hD;
  localparam logic [3:0] CONDITION_GT = 4'hE;
  localparam logic [3:0] CONDITION_LE = 4'hF;

  // Fault of a program.
  localparam logic [3:0] FAULT_NONE = 4'h0;
  localparam logic [3:0] FAULT_FETCH = 4'h1;
  localparam logic [3:0] FAULT_ILLEGAL = 4'h2;
  localparam logic [3:0] FAULT_UNALIGNED = 4'h3;
  localparam logic [3:0] FAULT_PART = 4'h4;
  localparam logic [3:0] FAULT_BEYOND = 4'h5;
  localparam logic [3:0] FAULT_SHADOW = 4'h6;
  localparam logic [3:0] FAULT_JUMP = 4'h7;

  // Cause of a clock without an executed instruction.
  localparam logic [2:0] STALL_NONE = 3'h0;
  localparam logic [2:0] STALL_FETCH = 3'h1;
  localparam logic [2:0] STALL_LOAD = 3'h2;
  localparam logic [2:0] STALL_GRANT = 3'h3;
  localparam logic [2:0] STALL_REGISTER = 3'h4;
endpackage
