// Byte lane of a memory in block RAM with two ports.
//
// Timing: read data one clock after the address; a port that writes keeps its last read data. The ports never access one
// place in the same clock if either writes: the callers prevent it.
module myri_board_lane #(
    parameter int PLACES_LOG2 = 13  // bytes = 2**PLACES_LOG2
) (
    input logic clk,  // clock of both ports
    input logic a_en,  // port a: access in this clock
    input logic a_write,  // 1 = write
    input logic [PLACES_LOG2-1:0] a_addr,  // place
    input logic [7:0] a_wdata,  // write data
    output logic [7:0] a_rdata,  // read data, one clock later
    input logic b_en,  // port b: likewise
    input logic b_write,
    input logic [PLACES_LOG2-1:0] b_addr,
    input logic [7:0] b_wdata,
    output logic [7:0] b_rdata
);
  (* no_rw_check, ram_style = "block" *) logic [7:0] mem[0:(1<<PLACES_LOG2)-1];

  // A block RAM has a port for each of the two blocks, and both write: the form that synthesis tools infer.
  /* verilator lint_off MULTIDRIVEN */
  always @(posedge clk) begin
    if (a_en && a_write) mem[a_addr] <= a_wdata;
    if (a_en && !a_write) a_rdata <= mem[a_addr];
  end
  always @(posedge clk) begin
    if (b_en && b_write) mem[b_addr] <= b_wdata;
    if (b_en && !b_write) b_rdata <= mem[b_addr];
  end
  /* verilator lint_on MULTIDRIVEN */
endmodule
