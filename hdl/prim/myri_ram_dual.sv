// Memory with two ports of one clock each, for block RAM with two ports.
//
// The two sides never access one word at the same time, except to read it: whoever instantiates the memory gives a word
// to one side at a time, and passes it on through a crossing.
// Timing: an access is one edge with `req`. Read data are the word before that edge, also of a write.
module myri_ram_dual #(
    parameter int WIDTH      = 32,  // bits of a word, a multiple of 8
    parameter int DEPTH_LOG2 = 10   // words = 2**DEPTH_LOG2
) (
    input logic a_clk,  // clock of side a
    input logic a_req,  // access at the coming edge
    input logic [WIDTH/8-1:0] a_write,  // bytes written; 0 = read
    input logic [DEPTH_LOG2-1:0] a_addr,  // word
    input logic [WIDTH-1:0] a_wdata,  // write data
    output logic [WIDTH-1:0] a_rdata,  // read data, one clock later
    input logic b_clk,  // clock of side b
    input logic b_req,  // likewise
    input logic [WIDTH/8-1:0] b_write,  // likewise
    input logic [DEPTH_LOG2-1:0] b_addr,  // likewise
    input logic [WIDTH-1:0] b_wdata,  // likewise
    output logic [WIDTH-1:0] b_rdata  // likewise
);
  // Both sides write the memory, each the words that it owns: two processes, which always_ff does not allow.
  // verilator lint_off MULTIDRIVEN
  (* no_rw_check *) logic [WIDTH-1:0] mem[0:(1<<DEPTH_LOG2)-1];
  // verilator lint_on MULTIDRIVEN

  always @(posedge a_clk) begin
    if (a_req) begin
      a_rdata <= mem[a_addr];
      for (int i = 0; i < WIDTH / 8; i++) if (a_write[i]) mem[a_addr][8*i+:8] <= a_wdata[8*i+:8];
    end
  end
  always @(posedge b_clk) begin
    if (b_req) begin
      b_rdata <= mem[b_addr];
      for (int i = 0; i < WIDTH / 8; i++) if (b_write[i]) mem[b_addr][8*i+:8] <= b_wdata[8*i+:8];
    end
  end
endmodule
