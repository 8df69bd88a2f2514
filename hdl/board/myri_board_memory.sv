// Host memory of a node in block RAM: a port of 64 bits for the host bridge of the PCI segment, and one of 32 bits for
// the board's bus, which waits while the bridge accesses the same 64-bit word.
//
// Timing: read data one clock after the access on both ports. Addresses beyond the memory wrap; the bridge's are reported.
module myri_board_memory #(
    parameter int MEMORY_LOG2 = 16  // bytes = 2**MEMORY_LOG2
) (
    input logic clk,  // NIC clock
    input logic mem_valid,  // access of the bridge
    input logic mem_write,  // 1 = write
    input logic [31:0] mem_addr,  // 8-byte aligned
    input logic [63:0] mem_wdata,  // byte lanes
    input logic [7:0] mem_be,  // bytes written
    output logic [63:0] mem_rdata,  // read data
    output logic beyond,  // strobe: the bridge addressed a place that the memory does not have
    input logic at_valid,  // access of the board's bus
    output logic at_ready,  // taken at the coming edge
    input logic at_write,  // 1 = write
    input logic [MEMORY_LOG2-1:0] at_addr,  // 4-byte aligned
    input logic [31:0] at_wdata,  // write data
    output logic [31:0] at_rdata  // read data
);
  localparam int ROW_BITS = MEMORY_LOG2 - 3;

  logic [ROW_BITS-1:0] a_row, b_row;
  logic [63:0] b_rdata;
  logic upper_q;  // the last read of the bus was of the upper half
  assign a_row = mem_addr[MEMORY_LOG2-1:3];
  assign b_row = at_addr[MEMORY_LOG2-1:3];
  assign at_ready = !(mem_valid && a_row == b_row);
  assign beyond = mem_valid && mem_addr[31:MEMORY_LOG2] != '0;
  assign at_rdata = upper_q ? b_rdata[63:32] : b_rdata[31:0];

  always_ff @(posedge clk) if (at_valid && at_ready) upper_q <= at_addr[2];

  myri_ram_dual #(
      .WIDTH(64),
      .DEPTH_LOG2(ROW_BITS)
  ) u_ram (
      .a_clk  (clk),
      .a_req  (mem_valid),
      .a_write(mem_write ? mem_be : 8'd0),
      .a_addr (a_row),
      .a_wdata(mem_wdata),
      .a_rdata(mem_rdata),
      .b_clk  (clk),
      .b_req  (at_valid && at_ready),
      .b_write(at_write ? (at_addr[2] ? 8'hF0 : 8'h0F) : 8'd0),
      .b_addr (b_row),
      .b_wdata({2{at_wdata}}),
      .b_rdata(b_rdata)
  );

  logic unused;
  assign unused = ^{mem_addr[2:0], at_addr[1:0]};
endmodule
