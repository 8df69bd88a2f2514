// Core of a LANai card, and its sleep: a polling loop that has returned to an earlier state repeats its actions until
// an input changes, so its clock need not run meanwhile.
//
// A turn is the sequence from one such state to the next. It stores nothing, reads only SRAM and ISR, is granted every
// access, and no other requester writes the SRAM or changes ISR. Turns are found at backward jumps: one state is kept,
// and later ones are compared with it. A state that does not recur is replaced by a later one, after twice the clocks
// each time. The following turn is recorded, clock by clock: the core's state, and the data from SRAM. From then on the
// core requests no edge, and uses each edge that other blocks need. After a sleep, the state of the clock that ends at
// the coming edge is loaded into the core before that edge, as if the clock had run. C accounts for the skipped clocks.
// A turn of more than TURN clocks is always executed.
`include "doorway.svh"
// Registers of the core other than arrays.
`define SIM_CORE_STATE {u_core.at_q, u_core.after_q, u_core.z_q, u_core.n_q, u_core.v_q, u_core.c_q, \
    u_core.return_left_q, u_core.return_known_q, u_core.return_to_q, u_core.shadow_q, u_core.register_wait_q, \
    u_core.loading_q, u_core.load_zero_q, u_core.load_special_q, u_core.special_q, \
    u_core.load_size_q, u_core.load_lane_q, u_core.load_rd_q, u_core.u_loads.loaded_q, u_core.u_loads.rd_q, \
    u_core.u_fetch.full_q, u_core.u_fetch.arriving_q, u_core.u_fetch.at_arrives_q, u_core.u_fetch.arriving_tag_q}
module sim_core_sleep
  import myri_nic_engines_pkg::*;
  import myri_lanai_core_pkg::*;
  import myri_sram_pkg::*;
#(
    parameter int WIDTH = 64,  // see myri_lanai_core
    parameter int REGISTER_BITS = 9,  // likewise
    parameter int UNIT = 0,  // the processor's unit number
    parameter int CLOCK = 0,  // index of the clock
    parameter logic [8:0] ISR = 9'd0,  // offset of ISR
    parameter int TURN = 256  // clocks of a turn at most
) (
    input logic clk,
    input logic rst,
    input logic [47:0] cycle,  // index of the coming edge
    input logic refresh,  // rises before the first edge after a sleep
    input logic [2:0] cfg_load_delay,
    input logic [1:0] cfg_fetch_log2,
    input logic [3:0] cfg_register_clocks,
    input logic [23:0] sram_bytes,
    output sram_request_t cpu_sram,
    input logic cpu_gnt,
    input sram_read_t cpu_read,
    output reg_request_t cpu_reg,
    input logic [31:0] cpu_reg_rdata,
    output core_trace_t trace,
    output logic [3:0] fault,
    input logic [31:0] isr,
    input logic written,  // the SRAM is written in this clock
    output logic sleeps  // 1 = the coming edge may be skipped
);
  localparam int FIRST = 64;  // clocks after which a state that has not recurred is replaced
  localparam int TAG = 23 - $clog2(WIDTH / 8);  // bits of a word's address
  localparam int STATE = 205 + TAG;  // of SIM_CORE_STATE

  // Recording: the state of each clock of a turn; place 0 is the state that is compared.
  logic [STATE-1:0] kept_state[TURN];
  logic [63:0] kept_read[TURN];
  logic [31:0] kept_register[TURN*32];
  logic [TAG-1:0] kept_tag[TURN*8];
  logic [WIDTH-1:0] kept_word[TURN*8];

  // After a sleep the SRAM returns the data of the recorded turn.
  logic [63:0] again_q;
  logic [47:0] again_at_q;  // in the clock that ends at this edge
  sram_read_t read;
  assign read = cycle == again_at_q ? {cpu_read.valid, again_q} : cpu_read;
  myri_lanai_core #(
      .WIDTH(WIDTH),
      .REGISTER_BITS(REGISTER_BITS)
  ) u_core (
      .clk,
      .rst,
      .cfg_load_delay,
      .cfg_fetch_log2,
      .cfg_register_clocks,
      .sram_bytes,
      .cpu_sram,
      .cpu_gnt,
      .cpu_reg,
      .cpu_reg_rdata,
      .trace,
      .fault,
      .cpu_read(read)
  );

  logic known_q, recording_q, turning_q;  // a state is kept; its turn is being recorded; its turn is known
  logic [31:0] last_pc_q, isr_q;
  logic disturbed;
  assign disturbed = written || isr != isr_q || (cpu_sram.req && !cpu_gnt) || fault != '0 ||
      (cpu_reg.valid && (cpu_reg.write || cpu_reg.addr != ISR));
  assign sleeps = turning_q && isr == isr_q;

  int place, length, age, patience, asleep;
  longint edge_index;
  logic same;
  always_ff @(posedge clk) begin
    edge_index = {16'd0, cycle};
    isr_q <= isr;
    if (rst || disturbed) begin
      if (turning_q) asleep = `SAN(san_core_sleeps) (UNIT, -1);
      {known_q, recording_q, turning_q} <= 3'd0;
      patience = FIRST;
    end else if (turning_q) begin
      asleep = `SAN(san_core_sleeps) (UNIT, edge_index + 1);
      {known_q, turning_q} <= {2{asleep != 0}};
    end else if (recording_q) begin
      keep(place);
      tell(place);
      place = place + 1;
      recorded();
    end else begin
      age = age + 1;
      if (trace.retired && trace.pc <= last_pc_q) compare();
    end
    if (trace.retired) last_pc_q <= trace.pc;
  end

  task automatic compare;
    same = known_q && kept_state[0] === `SIM_CORE_STATE && kept_read[0] === read.data;
    if (same) begin
      for (int i = 3; i < 32; i++) same = same && kept_register[i] === value(5'(i));
      for (int i = 0; i < 8; i++) begin
        same = same && kept_tag[i] === u_core.u_fetch.tag_q[i];
        same = same && kept_word[i] === u_core.u_fetch.word_q[i];
      end
    end
    if (same && age <= TURN) begin
      recording_q <= 1'b1;
      length = age;
      place = 1;
      tell(0);
      recorded();
    end else if (!known_q || age >= patience) begin
      if (known_q && patience < TURN) patience = 2 * patience;
      keep(0);
      known_q <= 1'b1;
      age = 0;
    end
  endtask
  task automatic recorded;
    if (place == length) begin
      asleep = `SAN(san_core_sleeps) (UNIT, edge_index + 1);
      recording_q <= 1'b0;
      {known_q, turning_q} <= {2{asleep != 0}};
    end
  endtask
  task automatic keep(input int at);
    kept_state[at] = `SIM_CORE_STATE;
    kept_read[at]  = read.data;
    for (int i = 3; i < 32; i++) kept_register[32*at+i] = value(5'(i));
    for (int i = 0; i < 8; i++) begin
      kept_tag[8*at+i]  = u_core.u_fetch.tag_q[i];
      kept_word[8*at+i] = u_core.u_fetch.word_q[i];
    end
  endtask
  // Value of a register, whichever bank holds it, or what was read from a special register for it.
  function automatic logic [31:0] value(input logic [4:0] number);
    return u_core.loading_q && u_core.load_special_q && u_core.load_rd_q == number ? u_core.special_q :
        !u_core.u_registers.known_q[number] ? 32'd0 : u_core.u_registers.by_load_q[number] ?
        u_core.u_registers.loaded[number] : u_core.u_registers.computed[number];
  endfunction
  // Action of this clock of the turn, in the form that core.c takes.
  task automatic tell(input int at);
    `SAN(san_core_turn) (UNIT, edge_index, at, trace.pc, {27'd0, cpu_sram.req, trace.retired, trace.stall});
  endtask

  int now_at;
  longint coming;
  always @(posedge refresh) begin
`ifdef VERILATOR
    coming = `SAN(san_next_edge) (CLOCK);  // in that case `cycle` changes now
`else
    coming = {16'd0, cycle};
`endif
    now_at = turning_q ? `SAN(san_core_wakes) (UNIT, coming) : -1;
    if (now_at >= 0) begin
      `SIM_CORE_STATE <= kept_state[now_at];
      u_core.u_registers.known_q <= '1;
      for (int i = 3; i < 32; i++) begin
        u_core.u_registers.loaded[i]   <= kept_register[32*now_at+i];
        u_core.u_registers.computed[i] <= kept_register[32*now_at+i];
      end
      for (int i = 0; i < 8; i++) begin
        u_core.u_fetch.tag_q[i]  <= kept_tag[8*now_at+i];
        u_core.u_fetch.word_q[i] <= kept_word[8*now_at+i];
      end
      again_q <= kept_read[now_at];
      again_at_q <= coming[47:0];
    end
  end
  initial again_at_q = '1;
endmodule
`undef SIM_CORE_STATE
