// Memory with one write port and one read port whose word is registered, for block RAM.
//
// Timing: after an edge with `read`, r_data is the word at r_addr, with the write of the same edge included. A reader
// that needs the word in the clock of its address therefore gives the address that will be valid after the edge. Without
// `read`, r_data keeps its value, which a later write does not change.
module myri_ram #(
    parameter int WIDTH      = 8,  // bits of a word
    parameter int DEPTH_LOG2 = 9   // words = 2**DEPTH_LOG2
) (
    input logic clk,  // clock
    input logic write,  // write at the coming edge
    input logic [DEPTH_LOG2-1:0] w_addr,  // word written
    input logic [WIDTH-1:0] w_data,  // its value
    input logic read,  // load r_data at the coming edge
    input logic [DEPTH_LOG2-1:0] r_addr,  // word read
    output logic [WIDTH-1:0] r_data  // its value after the edge
);
  logic [WIDTH-1:0] mem[0:(1<<DEPTH_LOG2)-1];

  always_ff @(posedge clk) if (write) mem[w_addr] <= w_data;
  always_ff @(posedge clk) if (read) r_data <= (write && w_addr == r_addr) ? w_data : mem[r_addr];
endmodule
