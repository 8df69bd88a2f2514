// Circuit "loopback": returns the payload unchanged.
//
// Timing: one word per clock, with a latency of one clock; waits while the result is not accepted.
module myri_circuit_loopback (
    input logic clk,  // fabric clock
    input logic rst,  // synchronous; also while the slot is being configured
    input logic ce,  // clock enable of the user clock: nothing moves without it
    input  logic [127:0] arguments,  // the four arguments of the message, a0 in bits 31:0; static during a message
    input logic in_valid,  // word of the payload, or the end of an empty payload
    output logic in_ready,  // accepted
    input logic in_last,  // last word of its message
    input logic [2:0] in_bytes,  // valid bytes in the word, 1..4; 0: an empty message
    input logic [31:0] in_data,  // byte i in bits 8i+7:8i
    output logic out_valid,  // word of the result; one result message per input message
    input logic out_ready,  // accepted
    output logic out_last,  // last word of its message
    output logic [2:0] out_bytes,  // valid bytes in the word, 1..4; 0: an empty message
    output logic [31:0] out_data,  // byte i in bits 8i+7:8i
    output logic mem_valid,  // access of the bank of the circuits
    input logic mem_ready,  // accepted
    output logic mem_write,  // 1 = write
    output logic [16:0] mem_addr,  // word within the slot's part of the bank
    output logic [31:0] mem_wdata,  // write data
    input logic mem_rvalid,  // read data, strobe
    input logic [31:0] mem_rdata,  // read data
    output logic busy  // 1 = needs further clock edges without input
);
  logic full_q;

  assign in_ready  = !full_q || out_ready;
  assign out_valid = full_q;
  assign busy      = full_q;
  assign mem_valid = 1'b0;
  assign mem_write = 1'b0;
  assign mem_addr  = '0;
  assign mem_wdata = '0;

  always_ff @(posedge clk) begin
    if (rst) full_q <= 1'b0;
    else if (ce && in_ready) full_q <= in_valid;
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      out_last  <= 1'b0;
      out_bytes <= '0;
      out_data  <= '0;
    end else if (ce && in_ready && in_valid) begin
      out_last  <= in_last;
      out_bytes <= in_bytes;
      out_data  <= in_data;
    end
  end

  logic unused;
  assign unused = &{1'b0, arguments, mem_ready, mem_rvalid, mem_rdata};
endmodule
