// The four SRAM banks of the FPGA card in block RAM. Simulations of a cluster use the memory in C (hdl/sim) with the
// same ports.
//
// A bank belongs to one side at a time (`myri_card_bank`), so the two clocks never meet in a word. Addresses wrap at the
// size of a bank. Timing: read data one clock after the access.
module myri_card_memory #(
    parameter int BANK_LOG2 = 12  // bytes of a bank = 2**BANK_LOG2, 4..21
) (
    input logic clk,  // PCI clock
    input logic mem_valid,  // bus side: access of a bank
    input logic mem_write,  // 1 = write
    input logic [22:0] mem_addr,  // {bank, byte offset in it}, multiple of 4
    input logic [31:0] mem_wdata,  // write data
    input logic [3:0] mem_be,  // bytes written
    output logic [31:0] mem_rdata,  // read data
    input logic f_clk,  // fabric clock
    input logic head_valid,  // FPGA: read of bank 0 or 1
    input logic head_bank,  // which
    input logic [18:0] head_addr,  // word
    output logic [31:0] head_rdata,  // read data
    input logic result_valid,  // FPGA: write of bank 2
    input logic [18:0] result_addr,  // word
    input logic [31:0] result_wdata,  // write data
    input logic bank_valid,  // FPGA: access of bank 3
    input logic bank_write,  // 1 = write
    input logic [18:0] bank_addr,  // word
    input logic [31:0] bank_wdata,  // write data
    output logic [31:0] bank_rdata  // read data
);
  localparam int BANKS = 4;
  localparam int WORD = BANK_LOG2 - 2;  // bits of a word's address
  logic [BANKS-1:0][31:0] bus_rdata, fpga_rdata, fpga_wdata;
  logic [BANKS-1:0][WORD-1:0] fpga_word;
  logic [BANKS-1:0] fpga_valid, fpga_write;
  logic [1:0] bus_bank_q;  // bank of the last access of the bus side
  logic head_bank_q;  // of the last read of the FPGA
  logic unused_ok;

  assign fpga_valid = {bank_valid, result_valid, head_valid && head_bank, head_valid && !head_bank};
  assign fpga_write = {bank_write, 3'b100};
  assign fpga_word = {bank_addr[WORD-1:0], result_addr[WORD-1:0], {2{head_addr[WORD-1:0]}}};
  assign fpga_wdata = {bank_wdata, result_wdata, 64'd0};
  assign mem_rdata = bus_rdata[bus_bank_q];
  assign head_rdata = head_bank_q ? fpga_rdata[1] : fpga_rdata[0];
  assign bank_rdata = fpga_rdata[3];
  assign unused_ok = ^{mem_addr, head_addr, result_addr, bank_addr, fpga_rdata[2]};

  always_ff @(posedge clk) if (mem_valid) bus_bank_q <= mem_addr[22:21];
  always_ff @(posedge f_clk) if (head_valid) head_bank_q <= head_bank;

  for (genvar i = 0; i < BANKS; i++) begin : gen_bank
    myri_ram_dual #(
        .WIDTH(32),
        .DEPTH_LOG2(WORD)
    ) u_ram (
        .a_clk  (clk),
        .a_req  (mem_valid && mem_addr[22:21] == 2'(i)),
        .a_write(mem_write ? mem_be : 4'd0),
        .a_addr (mem_addr[BANK_LOG2-1:2]),
        .a_wdata(mem_wdata),
        .a_rdata(bus_rdata[i]),
        .b_clk  (f_clk),
        .b_req  (fpga_valid[i]),
        .b_write({4{fpga_write[i]}}),
        .b_addr (fpga_word[i]),
        .b_wdata(fpga_wdata[i]),
        .b_rdata(fpga_rdata[i])
    );
  end
endmodule
