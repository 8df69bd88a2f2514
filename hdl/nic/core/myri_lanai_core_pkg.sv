// Signals between the parts of a LANai's processor, and the trace of the core.
package myri_lanai_core_pkg;
  typedef enum logic [1:0] {
    ACCESS_BYTE,
    ACCESS_HALF,
    ACCESS_WORD
  } access_size_t;

  typedef struct packed {
    logic alu;  // rd <- rs1 op second, if the condition holds
    logic select;  // rd <- condition ? rs1 : second
    logic count;  // rd <- number of counted bits of rs1, by the ALU operation
    logic constant_rd;  // rd <- constant
    logic set;  // rd <- condition
    logic branch;  // pc <- constant, if the condition holds
    logic relative;  // pc <- rs1 + constant, if the condition holds; r0 stands for pc
    logic load;
    logic store;
    logic [2:0] op;  // ALU operation (op_t), also of addresses; of count: what is counted (count_t)
    logic arithmetic;  // shift right: repeat the sign bit
    logic sets_flags;
    logic [3:0] condition;  // condition_t
    logic moved;  // access: the address is rs1 op second, else rs1
    logic back;  // access: rs1 <- rs1 op second
    logic [1:0] size;  // access: access_size_t
    logic zero_extends;  // load of a byte or half: no sign extension
    logic [4:0] rd;
    logic [4:0] rs1;
    logic [4:0] rs2;
    logic second_rs2;  // the second operand is rs2, else the constant
    logic reads_rs1;
    logic uses_rd;  // reads or writes rd
    logic [31:0] constant;
    logic legal;
  } instruction_t;

  typedef struct packed {
    logic retired;  // an instruction completed in this clock
    logic [31:0] pc;  // address of the instruction
    logic [2:0] stall;  // stall_t: why none completed; STALL_NONE otherwise
  } core_trace_t;
endpackage
