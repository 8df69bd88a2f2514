// What stands around a LANai in simulation: its SRAM in C, and the processor port model (processor.c) that runs the
// firmware's instruction streams. One block calls C in a fixed order at each edge: the processor samples, reads are
// served (they see the old value), then writes land, port a before port b.
`include "doorway.svh"
module sim_lanai #(
    parameter int WIDTH  = 64,  // bits of a word of SRAM, 32 or 64
    parameter int UNIT   = 0,   // the processor's unit number
    parameter int MEMORY = 0,   // the SRAM's memory number
    parameter int CLOCK  = 0    // the NIC clock's index
) (
    input  logic               clk,
    input  logic               rst,
    input  logic [       47:0] cycle,
    // SRAM ports, read data on the clock after
    input  logic               mem_a_valid,
    input  logic               mem_a_write,
    input  logic [       22:0] mem_a_addr,
    input  logic [  WIDTH-1:0] mem_a_wdata,
    input  logic [WIDTH/8-1:0] mem_a_be,
    output logic [  WIDTH-1:0] mem_a_rdata,
    input  logic               mem_b_valid,
    input  logic               mem_b_write,
    input  logic [       22:0] mem_b_addr,
    input  logic [  WIDTH-1:0] mem_b_wdata,
    input  logic [WIDTH/8-1:0] mem_b_be,
    output logic [  WIDTH-1:0] mem_b_rdata,
    // processor port
    output logic               cpu_reg_valid,
    output logic               cpu_reg_write,
    output logic [        8:0] cpu_reg_addr,
    output logic [       31:0] cpu_reg_wdata,
    input  logic [       31:0] cpu_reg_rdata,  // combinational, same clock
    output logic               cpu_req,
    input  logic               cpu_gnt,        // same clock
    input  logic [       31:0] isr,
    input  logic               others,         // something else on the NIC moves
    output logic               busy            // the processor must see the next edge
);
  // C has words of 64 bits; a word of 32 is one half of them.
  logic [63:0] wdata_a, wdata_b, word_a, word_b;
  logic [7:0] be_a, be_b;
  assign wdata_a = {(64 / WIDTH) {mem_a_wdata}};
  assign wdata_b = {(64 / WIDTH) {mem_b_wdata}};
  assign be_a = 8'(mem_a_be) << {mem_a_addr[2], 2'd0};
  assign be_b = 8'(mem_b_be) << {mem_b_addr[2], 2'd0};
  int action;
  longint now, edge_index;
  always_ff @(posedge clk) begin
    now = $time;
    edge_index = {16'd0, cycle};
    if (rst) begin
      {cpu_reg_valid, cpu_reg_write, cpu_req, busy} <= 4'd0;
      cpu_reg_addr <= '0;
      cpu_reg_wdata <= '0;
      mem_a_rdata <= '0;
      mem_b_rdata <= '0;
    end else begin
      action = `SAN(san_processor_clock) (UNIT, MEMORY, CLOCK, now, edge_index, {31'd0, cpu_gnt},
                                          isr, cpu_reg_rdata, {31'd0, others});
      cpu_req <= action[0];
      cpu_reg_valid <= action[1];
      cpu_reg_write <= action[2];
      busy <= action[3];
      if (action[1]) begin
        cpu_reg_addr  <= 9'(`SAN(san_processor_address) (UNIT));
        cpu_reg_wdata <= `SAN(san_processor_data) (UNIT);
      end
      if (mem_a_valid && !mem_a_write) begin
        word_a = `SAN(san_mem_read) (MEMORY, {9'd0, mem_a_addr});
        mem_a_rdata <= word_a[{mem_a_addr[2], 5'd0}+:WIDTH];
      end
      if (mem_b_valid && !mem_b_write) begin
        word_b = `SAN(san_mem_read) (MEMORY, {9'd0, mem_b_addr});
        mem_b_rdata <= word_b[{mem_b_addr[2], 5'd0}+:WIDTH];
      end
      if (mem_a_valid && mem_a_write)
        `SAN(san_mem_write) (MEMORY, {9'd0, mem_a_addr}, wdata_a, {24'd0, be_a});
      if (mem_b_valid && mem_b_write)
        `SAN(san_mem_write) (MEMORY, {9'd0, mem_b_addr}, wdata_b, {24'd0, be_b});
    end
  end
endmodule
