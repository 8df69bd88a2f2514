// Processor of a LANai: executes the output of clang-16 for LANai, one instruction per clock, in order.
//
// It has two interfaces: the processor port of the SRAM arbiter, for instructions and data, and the special registers,
// which are the last 2**REGISTER_BITS bytes of the address space. A data access has priority over a fetch. A jump has
// one delay slot, a load of pc two. Not implemented: contexts and interrupts of the LANai 4, and its flags as a
// register. Unpublished, hence assumed: the prefetch depth (`cfg_fetch_log2`), and the further cost of a special
// register access (`cfg_register_clocks`).
// An undefined instruction or access halts it until reset: `fault` gives the reason, `trace.pc` the address.
// Timing: an SRAM access is sent in the clock of its instruction, when it is granted; a special register is accessed in
// that clock. The result of a load may be used as described in `myri_lanai_loads`.
module myri_lanai_core
  import myri_nic_engines_pkg::*;
  import myri_lanai_core_pkg::*;
  import myri_lanai_isa_pkg::*;
  import myri_sram_pkg::*;
#(
    parameter int WIDTH = 64,  // bits of a word of SRAM, 32 or 64
    parameter int REGISTER_BITS = 9    // special registers: bytes of their addresses = 2**REGISTER_BITS, 8 or 9
) (
    input logic clk,  // NIC clock
    input logic rst,  // synchronous reset: execution begins at address 0
    input logic [2:0] cfg_load_delay,  // longest wait of an instruction that uses a loaded register, clocks, 1..7
    input logic [1:0] cfg_fetch_log2,  // words of the prefetch buffer: 2**cfg_fetch_log2, 2, 4 or 8
    input logic [3:0] cfg_register_clocks,  // further clocks of an access of a special register
    input logic [23:0] sram_bytes,  // size of the SRAM
    output sram_request_t cpu_sram,  // SRAM: request
    input logic cpu_gnt,  // grant
    input sram_read_t cpu_read,  // what was read
    output reg_request_t cpu_reg,  // special registers: access of the processor
    input logic [31:0] cpu_reg_rdata,  // read data, same clock
    output core_trace_t trace,  // events of this clock
    output fault_t fault  // cause of a halt, until reset
);
  localparam int LANES = WIDTH / 8;
  localparam int LANE = $clog2(LANES);
  localparam logic [4:0] ZERO = 5'd0;
  localparam logic [4:0] ONES = 5'd1;
  localparam logic [4:0] PC = 5'd2;

  logic z_q, n_q, v_q, c_q;
  // Addresses of this instruction and of the next two.
  logic [31:0] at_q, after_q, behind;
  logic stopped_q;
  fault_t fault_q;
  logic [31:0] fault_at_q;  // address of the instruction that halted the core
  assign behind = after_q + 32'd4;

  // A load of pc: its two delay slots execute, then its target.
  logic [1:0] return_left_q;  // delay slots left, 2 or 1
  logic return_known_q;
  logic [31:0] return_to_q;
  logic shadow_q;  // the current instruction is in the delay slot of a jump
  logic returning;  // the current instruction is in the second delay slot of a load of pc
  logic [31:0] next;  // the instruction after it
  assign returning = return_left_q == 2'd1;
  assign next = returning ? return_to_q : after_q;

  // Fetch and execution. A data access has priority over a fetch.
  logic have, fetch, access, accesses, fetched, moves;
  logic [22:0] fetch_addr;
  logic [31:0] word;
  instruction_t one;
  assign fetched = cpu_gnt && !accesses;
  myri_lanai_fetch #(
      .WIDTH(WIDTH)
  ) u_fetch (
      .clk,
      .rst,
      .cfg_fetch_log2,
      .sram_bytes,
      .have,
      .word,
      .fetch,
      .cpu_read,
      .at(at_q),
      .after(returning && !return_known_q ? at_q : next),
      .behind(returning ? at_q : behind),
      .moves,
      .addr(fetch_addr),
      .gnt(fetched)
  );
  myri_lanai_decode u_decode (
      .word,
      .decoded(one)
  );

  // Operands.
  logic [31:0] first, second, datum;  // datum: what a store writes
  logic [31:0]
      rs1_value, rs2_value, rd_value;  // registers; 0, 1 and 2 are the constants and pc instead
  assign first  = value_of(one.rs1, {at_q, rs1_value});
  assign second = one.second_rs2 ? value_of(one.rs2, {at_q, rs2_value}) : one.constant;
  assign datum  = value_of(one.rd, {at_q, rd_value});

  // `from` is pc, then the register: a function is evaluated only when its arguments change (Icarus).
  function automatic logic [31:0] value_of(input logic [4:0] number, input logic [63:0] from);
    case (number)
      ZERO: value_of = 32'd0;
      ONES: value_of = 32'hFFFFFFFF;
      PC: value_of = from[63:32];
      default: value_of = from[31:0];
    endcase
  endfunction

  // Results.
  logic holds, carry, overflow;
  logic [31:0] sum, result;
  logic [5:0] count;
  myri_lanai_alu u_alu (
      .op(one.op),
      .arithmetic(one.arithmetic),
      .a(first),
      .b(second),
      .carry(c_q),
      .value(sum),
      .carry_out(carry),
      .overflow(overflow)
  );
  myri_lanai_count u_count (
      .op(one.op),
      .a(one.count ? first : 32'd0),
      .count(count)
  );
  always_comb begin
    case ({
      one.condition[3:1], 1'b0
    })
      CONDITION_T: holds = 1'b1;
      CONDITION_HI: holds = c_q && !z_q;
      CONDITION_CC: holds = !c_q;
      CONDITION_NE: holds = !z_q;
      CONDITION_VC: holds = !v_q;
      CONDITION_PL: holds = !n_q;
      CONDITION_GE: holds = n_q == v_q;
      default: holds = n_q == v_q && !z_q;
    endcase
    holds = holds ^ one.condition[0];
  end
  always_comb begin
    if (one.select) result = holds ? first : second;
    else if (one.constant_rd) result = one.constant;
    else if (one.set) result = {31'd0, holds};
    else if (one.count) result = {26'd0, count};
    else result = sum;
  end

  // Accesses.
  logic memory, special, unaligned, beyond;
  logic [31:0] address;
  assign memory = one.load || one.store;
  assign address = one.moved ? sum : first;
  assign special = &address[31:REGISTER_BITS];
  assign unaligned = (one.size[1] && address[1:0] != 2'd0) || (one.size[0] && address[0]);
  assign beyond = address >= {8'd0, sram_bytes};

  // Jumps.
  logic writes_rd, jumps;
  logic [31:0] target;
  assign writes_rd = (one.alu && holds) || one.select || one.count || one.constant_rd || one.set;
  assign jumps = ((one.branch || one.relative) && holds) || (writes_rd && one.rd == PC) ||
      (memory && one.back && one.rs1 == PC && !(one.load && one.rd == PC));
  always_comb begin
    if (one.branch) target = one.constant;
    else if (one.relative) target = (one.rs1 == ZERO ? at_q : first) + one.constant;
    else target = memory ? sum : result;
  end

  // Conditions for execution. The faults of addresses and targets are known last: an instruction that has one (`late`)
  // may still change the registers, which nobody reads from then on, but reaches neither SRAM nor special registers.
  fault_t wrong;
  logic [3:0] register_wait_q;
  logic load_waits, may, late, go, reads_pc, beyond_pc, in_shadow, bad_return;
  assign reads_pc = one.load && one.rd == PC;
  assign beyond_pc = at_q + 32'd4 > {8'd0, sram_bytes} || at_q[31:24] != 8'd0;
  assign in_shadow = (jumps || reads_pc) && (shadow_q || return_left_q != 2'd0);
  assign bad_return = return_known_q && return_to_q[1:0] != 2'd0;
  assign late = (memory && (unaligned || (special ? !one.size[1] : beyond))) || (jumps && target[1:0] != 2'd0);
  always_comb begin
    if (beyond_pc) wrong = FAULT_FETCH;
    else if (!have) wrong = FAULT_NONE;
    else if (!one.legal) wrong = FAULT_ILLEGAL;
    else if (load_waits) wrong = FAULT_NONE;
    else if (memory && unaligned) wrong = FAULT_UNALIGNED;
    else if (memory && special && !one.size[1]) wrong = FAULT_PART;
    else if (memory && !special && beyond) wrong = FAULT_BEYOND;
    else if (in_shadow) wrong = FAULT_SHADOW;
    else if (jumps && target[1:0] != 2'd0) wrong = FAULT_JUMP;
    else if (bad_return) wrong = FAULT_JUMP;
    else wrong = FAULT_NONE;
  end
  assign may = !rst && !stopped_q && have && one.legal && !load_waits && !beyond_pc && !in_shadow && !bad_return &&
      !(returning && !return_known_q);
  assign accesses = may && memory && !special;
  assign access = accesses && !late;
  assign cpu_reg.valid = may && memory && special && !late && register_wait_q == cfg_register_clocks;
  assign moves = may && (!memory || (special ? register_wait_q == cfg_register_clocks : cpu_gnt));
  assign go = moves && !late;

  logic [31:0] uses;
  always_comb begin : registers_used
    logic [31:0] some;
    some = 32'd0;
    if (one.reads_rs1) some[one.rs1] = 1'b1;
    if (one.second_rs2) some[one.rs2] = 1'b1;
    if (one.uses_rd) some[one.rd] = 1'b1;
    uses = some;
  end
  myri_lanai_loads u_loads (
      .clk,
      .rst,
      .cfg_load_delay,
      .uses,
      .loads  (moves && one.load && one.rd > PC),
      .load_rd(one.rd),
      .waits  (load_waits)
  );

  // Interfaces to the SRAM and the special registers.
  logic [31:0] lanes;  // of a store, repeated over a word
  logic [ 7:0] enables;
  logic [63:0] doubled;
  always_comb begin
    case (one.size)
      ACCESS_BYTE: lanes = {4{datum[7:0]}};
      ACCESS_HALF: lanes = {2{datum[7:0], datum[15:8]}};
      default: lanes = {datum[7:0], datum[15:8], datum[23:16], datum[31:24]};
    endcase
    case (one.size)
      ACCESS_BYTE: enables = 8'h01;
      ACCESS_HALF: enables = 8'h03;
      default: enables = 8'h0F;
    endcase
  end
  assign doubled = {2{lanes}};
  logic fetches;
  assign fetches = fetch && !stopped_q && !rst;
  assign cpu_sram.req = accesses ? !late : fetches;
  assign cpu_sram.write = access && one.store;
  assign cpu_sram.addr = accesses ? {address[22:LANE], {LANE{1'b0}}} : fetches ? fetch_addr : 23'd0;
  assign cpu_sram.be = access ? enables << address[LANE-1:0] : 8'd0;
  assign cpu_sram.wdata = access ? 64'(doubled[WIDTH-1:0]) : 64'd0;
  assign cpu_reg.write = one.store;
  assign cpu_reg.addr = 9'(address[REGISTER_BITS-1:0]);
  assign cpu_reg.wdata = datum;

  // Data of a load, one clock later.
  logic loading_q, load_zero_q, load_special_q;
  logic [31:0] special_q;  // read from a special register
  logic [ 1:0] load_size_q;
  logic [ 2:0] load_lane_q;
  logic [ 4:0] load_rd_q;
  logic [31:0] half, brought;
  logic [15:0] pair;
  logic [ 7:0] octet;
  assign half  = (WIDTH == 64 && load_lane_q[2]) ? cpu_read.data[63:32] : cpu_read.data[31:0];
  assign pair  = load_lane_q[1] ? half[31:16] : half[15:0];
  assign octet = load_lane_q[0] ? pair[15:8] : pair[7:0];
  always_comb begin
    if (load_special_q) brought = special_q;
    else
      case (load_size_q)
        ACCESS_BYTE: brought = {{24{octet[7] && !load_zero_q}}, octet};
        ACCESS_HALF: brought = {{16{pair[7] && !load_zero_q}}, pair[7:0], pair[15:8]};
        default: brought = {half[7:0], half[15:8], half[23:16], half[31:24]};
      endcase
  end

  myri_lanai_registers u_registers (
      .clk(clk),
      .rst(rst),
      .rs1(one.rs1),
      .rs1_value(rs1_value),
      .rs2(one.rs2),
      .rs2_value(rs2_value),
      .rd(one.rd),
      .rd_value(rd_value),
      .loads(loading_q),
      .load_rd(load_rd_q),
      .load_value(brought),
      .computes(moves && (writes_rd || (memory && one.back))),
      .result_rd(memory ? one.rs1 : one.rd),
      .result_value(memory ? sum : result)
  );

  always_ff @(posedge clk) begin
    if (rst) begin
      {at_q, after_q} <= {32'd0, 32'd4};
      {z_q, n_q, v_q, c_q} <= 4'd0;
      {loading_q, load_special_q, shadow_q, stopped_q, return_known_q} <= 5'd0;
      special_q <= 32'd0;
      return_left_q <= 2'd0;
      register_wait_q <= 4'd0;
      fault_q <= FAULT_NONE;
    end else begin
      if (wrong != FAULT_NONE && !stopped_q) begin
        stopped_q  <= 1'b1;
        fault_q    <= wrong;
        fault_at_q <= at_q;
      end
      if (may && memory && special)
        register_wait_q <= cpu_reg.valid ? 4'd0 : register_wait_q + 4'd1;
      loading_q <= moves && one.load && !(special && one.rd == PC);
      load_special_q <= moves && one.load && special;
      special_q <= moves && one.load && special ? cpu_reg_rdata : 32'd0;
      if (loading_q && load_rd_q == PC) begin
        return_known_q <= 1'b1;
        return_to_q <= brought;
      end
      if (moves) begin
        load_rd_q   <= one.rd;
        load_size_q <= one.size;
        load_lane_q <= address[2:0];
        load_zero_q <= one.zero_extends;
        if (one.sets_flags && holds)
          {z_q, n_q, v_q, c_q} <= {sum == 32'd0, sum[31], overflow, carry};
        // Next instruction.
        shadow_q <= jumps;
        if (returning) begin
          {at_q, after_q} <= {return_to_q, return_to_q + 32'd4};
          return_known_q  <= 1'b0;
        end else if (jumps) begin
          {at_q, after_q} <= {after_q, target};
        end else begin
          {at_q, after_q} <= {after_q, behind};
        end
        if (reads_pc) begin
          return_left_q <= 2'd2;
          if (special) begin
            return_known_q <= 1'b1;
            return_to_q <= cpu_reg_rdata;
          end
        end else if (return_left_q != 2'd0) return_left_q <= return_left_q - 2'd1;
      end
    end
  end

  assign fault = fault_q;
  stall_t stall;
  always_comb begin
    if (rst || stopped_q || go) stall = STALL_NONE;
    else if (!have || (returning && !return_known_q)) stall = STALL_FETCH;
    else if (load_waits) stall = STALL_LOAD;
    else if (special) stall = STALL_REGISTER;
    else stall = STALL_GRANT;
  end
  assign trace = {go, stopped_q ? fault_at_q : at_q, stall};

  logic unused_ok;
  assign unused_ok = ^{load_lane_q[2], doubled, cpu_read};
endmodule
