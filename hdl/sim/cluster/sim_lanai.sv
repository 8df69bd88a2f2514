// Environment of a LANai in simulation: its SRAM in C, and the processor port model (processor.c) that runs the
// firmware's instruction streams. One block calls C in a fixed order at each edge: the processor samples, reads return
// the old values, then writes take effect, port a before port b.
//
// The clock must have the edges before which `needed` is 1, and those after new commands, which only C knows.
`include "doorway.svh"
module sim_lanai
  import myri_nic_engines_pkg::*;
  import myri_sram_pkg::*;
#(
    parameter int WIDTH = 64,  // bits of a word of SRAM, 32 or 64
    parameter int UNIT = 0,  // the processor's unit number
    parameter int MEMORY = 0,  // the SRAM's memory number
    parameter int CLOCK = 0,  // the NIC clock's index
    parameter int ASKS = 0  // 1: the processor requests accesses; 0: the arbiter reports if one is possible
) (
    input  logic                 clk,
    input  logic                 rst,
    input  logic          [47:0] cycle,
    // SRAM ports, read data one clock later
    input  sram_request_t        mem_a,
    output logic          [63:0] mem_a_rdata,
    input  sram_request_t        mem_b,
    output logic          [63:0] mem_b_rdata,
    // processor port
    output reg_request_t         cpu_reg,
    input  logic          [31:0] cpu_reg_rdata,  // combinational, same clock
    output sram_request_t        cpu_sram,       // request only: C reads and writes
    input  logic                 cpu_gnt,        // same clock: granted, or access possible
    input  logic          [31:0] isr,
    output logic                 needed,         // 1 = the coming edge of clk is needed
    output logic                 busy            // 1 = the processor needs the next edge
);
  logic cpu_req_q;
  assign cpu_sram = {cpu_req_q, {($bits(sram_request_t) - 1) {1'b0}}};
  // C has words of 64 bits; a 32-bit word is one half of them.
  logic [63:0] wdata_a, wdata_b, word_a, word_b;
  logic [7:0] be_a, be_b;
  assign wdata_a = {(64 / WIDTH) {mem_a.wdata[WIDTH-1:0]}};
  assign wdata_b = {(64 / WIDTH) {mem_b.wdata[WIDTH-1:0]}};
  assign be_a = mem_a.be << {mem_a.addr[2], 2'd0};
  assign be_b = mem_b.be << {mem_b.addr[2], 2'd0};
  localparam int ACT_SRAM = 0;  // bits of what C returns, see processor.c; above them the edge of its next call
  localparam int ACT_REGISTER = 1;
  localparam int ACT_WRITE = 2;
  localparam int ACT_BUSY = 3;
  localparam int ACT_POLL = 4;
  localparam int ACT_RUN = 5;
  localparam int ACT_BITS = 8;
  logic polling_q, acting_q, running_q;
  logic written_q;  // memory was written at the last edge
  logic write_a, write_b;
  logic changed;  // a polled word may have changed
  logic [31:0] isr_seen_q;
  logic [47:0] due_q;
  assign write_a = mem_a.req && mem_a.write && mem_a.be != '0;
  assign write_b = mem_b.req && mem_b.write && mem_b.be != '0;
  assign changed = written_q || isr != isr_seen_q;
  assign busy = acting_q || (polling_q && changed);
  assign needed = busy || mem_a.req || mem_b.req || (running_q && !cpu_gnt) || cycle >= due_q;
  int flags;  // SEES_*
  longint action, now, edge_index;
  always_ff @(posedge clk) begin
    now = $time;
    edge_index = {16'd0, cycle};
    if (rst) begin
      cpu_reg <= '0;
      {cpu_req_q, acting_q, polling_q, running_q, written_q} <= 5'd0;
      isr_seen_q <= '0;
      due_q <= '0;
      mem_a_rdata <= '0;
      mem_b_rdata <= '0;
    end else begin
      flags = {29'd0, ASKS != 0, changed, cpu_gnt};
      action = `SAN(san_processor_clock) (UNIT, MEMORY, CLOCK, now, edge_index, flags, isr,
                                          cpu_reg_rdata);
      cpu_req_q <= action[ACT_SRAM];
      cpu_reg.valid <= action[ACT_REGISTER];
      cpu_reg.write <= action[ACT_WRITE];
      acting_q <= action[ACT_BUSY];
      polling_q <= action[ACT_POLL];
      running_q <= action[ACT_RUN];
      due_q <= action[ACT_BITS+:48];
      written_q <= write_a || write_b;
      isr_seen_q <= isr;
      if (action[ACT_REGISTER]) begin
        cpu_reg.addr  <= 9'(`SAN(san_processor_address) (UNIT));
        cpu_reg.wdata <= `SAN(san_processor_data) (UNIT);
      end
      if (mem_a.req && !mem_a.write) begin
        word_a = `SAN(san_mem_read) (MEMORY, {9'd0, mem_a.addr});
        mem_a_rdata <= 64'(word_a[{mem_a.addr[2], 5'd0}+:WIDTH]);
      end
      if (mem_b.req && !mem_b.write) begin
        word_b = `SAN(san_mem_read) (MEMORY, {9'd0, mem_b.addr});
        mem_b_rdata <= 64'(word_b[{mem_b.addr[2], 5'd0}+:WIDTH]);
      end
      if (write_a) `SAN(san_mem_write) (MEMORY, {9'd0, mem_a.addr}, wdata_a, {24'd0, be_a});
      if (write_b) `SAN(san_mem_write) (MEMORY, {9'd0, mem_b.addr}, wdata_b, {24'd0, be_b});
    end
  end
endmodule
