// Decoder of the LANai's instruction words (dialect of clang-16, "v11"; that of the LANai 9 is the same without select,
// conditional RR instructions and bit counts). Formats, operations: `myri_lanai_isa_pkg`.
//
// Timing: combinational.
module myri_lanai_decode
  import myri_lanai_core_pkg::*;
  import myri_lanai_isa_pkg::*;
(
    input logic [31:0] word,  // the instruction, its first byte in bits 31:24
    output instruction_t decoded  // decoded instruction
);
  logic ri, rm, rrm, rr, special, br, brr, scc, sls, sli, spls;
  logic shift, ri_shift, ri_and, wide;
  assign ri = (word & RI_MASK) == RI_MATCH;
  assign rm = (word & RM_MASK) == RM_MATCH;
  assign rrm = (word & RRM_MASK) == RRM_MATCH;
  assign rr = (word & RR_MASK) == RR_MATCH;
  assign special = (word & SPECIAL_MASK) == SPECIAL_MATCH;
  assign br = (word & BR_MASK) == BR_MATCH;
  assign brr = (word & BRR_MASK) == BRR_MATCH;
  assign scc = (word & SCC_MASK) == SCC_MATCH;
  assign sls = (word & SLS_MASK) == SLS_MATCH;
  assign sli = (word & SLI_MASK) == SLI_MATCH;
  assign spls = (word & SPLS_MASK) == SPLS_MATCH;
  assign shift = word[10:8] == OP_SHIFT;  // of RR and RRM; bit 7 tells it from a select
  assign ri_shift = word[30:28] == OP_SHIFT;
  assign ri_and = word[30:28] == OP_AND;
  assign wide = word[1] || shift;  // RRM: a word

  logic memory, stores;
  assign memory = rm || rrm || sls || spls;
  assign stores = sls ? word[16] : spls ? word[13] : word[28];

  logic
      alu,
      select,
      count,
      constant_rd,
      set,
      branch,
      relative,
      load,
      store,
      arithmetic,
      sets_flags,
      moved,
      back,
      zero_extends,
      second_rs2,
      reads_rs1,
      uses_rd,
      legal;
  logic [2:0] op;
  logic [3:0] condition;
  logic [1:0] size;
  logic [4:0] rd, rs1, rs2;
  logic [31:0] constant;
  assign alu = ri || (rr && (!shift || word[7]));
  assign select = rr && shift && !word[7];
  assign count = special;
  assign constant_rd = sli;
  assign set = scc;
  assign branch = br;
  assign relative = brr;
  assign load = memory && !stores;
  assign store = memory && stores;
  assign op = ri ? word[30:28] : special ? word[2:0] : (rr || rrm) ? word[10:8] : OP_ADD;
  assign arithmetic = ri ? word[16] : word[6];
  assign sets_flags = alu && word[17];
  assign condition = ri ? CONDITION_T : rr ? {word[2:0], word[16]} : {word[27:25], word[0]};
  assign moved = sls || (spls ? word[11] : word[17]);
  assign back = memory && !sls && (spls ? word[10] : word[16]);
  assign size = spls ? {1'b0, !word[14]} : (rrm && !wide) ? {1'b0, !word[2]} : ACCESS_WORD;
  assign zero_extends = spls ? word[12] : word[0];
  assign rd = scc ? word[22:18] : word[27:23];
  assign rs1 = sls ? 5'd0 : word[22:18];
  assign rs2 = word[15:11];
  assign second_rs2 = rr || rrm;
  assign reads_rs1 = ri || rm || rrm || rr || special || brr || spls;
  assign uses_rd = !br && !brr;
  assign legal = ri || rm || br || brr || scc || sls || sli || spls ||
        (rr && !(shift && word[7:3] != 5'd0 && !word[7])) || (rrm && !(shift && !word[7]) && !(word[2] && word[1])) ||
        (special && !word[17] && (word[2:0] == COUNT_POPC || word[2:0] == COUNT_LEADZ || word[2:0] == COUNT_TRAILZ));
  always_comb begin
    if (sls || sli) constant = {11'd0, word[22:18], word[15:2], sls ? 2'd0 : word[1:0]};
    else if (br) constant = {7'd0, word[24:2], 2'd0};
    else if (brr) constant = {{16{word[15]}}, word[15:2], 2'd0};
    else if (spls) constant = {{22{word[9]}}, word[9:0]};
    else if (rm || ri_shift) constant = {{16{word[15]}}, word[15:0]};
    else if (ri_and) constant = word[16] ? {word[15:0], 16'hFFFF} : {16'hFFFF, word[15:0]};
    else constant = word[16] ? {word[15:0], 16'd0} : {16'd0, word[15:0]};
  end

  // One assignment: a reader of the struct is evaluated again at each change of any field (Icarus).
  assign decoded = {
    alu,
    select,
    count,
    constant_rd,
    set,
    branch,
    relative,
    load,
    store,
    op,
    arithmetic,
    sets_flags,
    condition,
    moved,
    back,
    size,
    zero_extends,
    rd,
    rs1,
    rs2,
    second_rs2,
    reads_rs1,
    uses_rd,
    constant,
    legal
  };
endmodule
