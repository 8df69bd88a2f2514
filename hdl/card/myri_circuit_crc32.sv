// Circuit "crc32": CRC-32 of the payload (IEEE 802.3: polynomial 04C11DB7 reflected, initial value and final inversion
// all ones), four bytes, least significant first.
//
// Timing: one word per clock; the result is valid one clock after the last word.
module myri_circuit_crc32 (
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
  localparam logic [31:0] POLYNOMIAL = 32'hEDB8_8320;

  logic [31:0] crc_q;
  logic [31:0] next;
  logic        full_q;
  logic        take;

  always_comb begin
    next = crc_q;
    for (int i = 0; i < 4; i++) begin
      if (3'(i) < in_bytes) begin
        next = next ^ {24'd0, in_data[8*i+:8]};
        for (int bit_number = 0; bit_number < 8; bit_number++) begin
          next = next[0] ? (next >> 1) ^ POLYNOMIAL : next >> 1;
        end
      end
    end
  end

  assign in_ready  = !full_q;
  assign take      = ce && in_valid && in_ready;
  assign out_valid = full_q;
  assign out_last  = 1'b1;
  assign out_bytes = 3'd4;
  assign busy      = full_q;
  assign mem_valid = 1'b0;
  assign mem_write = 1'b0;
  assign mem_addr  = '0;
  assign mem_wdata = '0;

  always_ff @(posedge clk) begin
    if (rst) full_q <= 1'b0;
    else if (take) full_q <= in_last;
    else if (ce && out_ready) full_q <= 1'b0;
  end

  always_ff @(posedge clk) begin
    if (rst) crc_q <= '1;
    else if (take) crc_q <= in_last ? '1 : next;
  end

  always_ff @(posedge clk) begin
    if (rst) out_data <= '0;
    else if (take && in_last) out_data <= ~next;
  end

  logic unused;
  assign unused = &{1'b0, arguments, mem_ready, mem_rvalid, mem_rdata};
endmodule
