// SRAM of the FPGA card in C: 32-bit ports of the bus side (PCI clock) and of the FPGA (fabric clock), read data one
// clock later. The card decides which side may access which bank.
`include "doorway.svh"
module sim_card_memory #(
    parameter int MEMORY = 0  // the memory's number
) (
    input  logic        clk,
    input  logic        f_clk,
    input  logic        mem_valid,
    input  logic        mem_write,
    input  logic [22:0] mem_addr,
    input  logic [31:0] mem_wdata,
    input  logic [ 3:0] mem_be,
    output logic [31:0] mem_rdata,
    input  logic        head_valid,
    input  logic        head_bank,
    input  logic [18:0] head_addr,
    output logic [31:0] head_rdata,
    input  logic        result_valid,
    input  logic [18:0] result_addr,
    input  logic [31:0] result_wdata,
    input  logic        bank_valid,
    input  logic        bank_write,
    input  logic [18:0] bank_addr,
    input  logic [31:0] bank_wdata,
    output logic [31:0] bank_rdata
);
  longint group, f_group;
  int at, f_at, enables, f_enables;
  always_ff @(posedge clk) begin
    at = {9'd0, mem_addr[22:3], 3'd0};
    if (mem_valid && !mem_write) begin
      group = `SAN(san_mem_read) (MEMORY, at);
      mem_rdata <= mem_addr[2] ? group[63:32] : group[31:0];
    end
    if (mem_valid && mem_write) begin
      group   = {mem_wdata, mem_wdata};
      enables = {24'd0, mem_addr[2] ? {mem_be, 4'd0} : {4'd0, mem_be}};
      `SAN(san_mem_write) (MEMORY, at, group, enables);
    end
  end
  always_ff @(posedge f_clk) begin
    if (head_valid) begin
      f_at = {10'd0, head_bank, head_addr[18:1], 3'd0};
      f_group = `SAN(san_mem_read) (MEMORY, f_at);
      head_rdata <= head_addr[0] ? f_group[63:32] : f_group[31:0];
    end
    if (result_valid) begin
      f_at = {9'd0, 2'd2, result_addr[18:1], 3'd0};
      f_group = {result_wdata, result_wdata};
      f_enables = result_addr[0] ? 32'hF0 : 32'h0F;
      `SAN(san_mem_write) (MEMORY, f_at, f_group, f_enables);
    end
    if (bank_valid) begin
      f_at = {9'd0, 2'd3, bank_addr[18:1], 3'd0};
      if (bank_write) begin
        f_group   = {bank_wdata, bank_wdata};
        f_enables = bank_addr[0] ? 32'hF0 : 32'h0F;
        `SAN(san_mem_write) (MEMORY, f_at, f_group, f_enables);
      end else begin
        f_group = `SAN(san_mem_read) (MEMORY, f_at);
        bank_rdata <= bank_addr[0] ? f_group[63:32] : f_group[31:0];
      end
    end
  end
endmodule
