// Circuit "histogram": counts of each byte value, in 256 counters of 32 bits in the slot's part of the bank.
//
// a0 = 0: count the bytes of the payload; empty result. a0 = 1: ignore the payload; the result is the 256 counters (1
// KB), least significant byte first. a0 = 2: ignore the payload and clear the counters; empty result. The bank keeps
// the counters through a reconfiguration, so clear them first.
//
// Timing: each byte costs one read and one write of the bank; each counter of the result costs one read.
module myri_circuit_histogram (
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
  typedef enum logic [2:0] {
    IDLE,   // wait for a word of the message
    READ,   // request a counter
    DATA,   // wait for the counter
    WRITE,  // write the counter back, or 0
    GIVE    // a word of the result waits to be accepted
  } state_t;

  state_t        state_q;
  logic   [31:0] word_q;
  logic   [ 2:0] left_q;
  logic          last_q;
  logic   [ 8:0] index_q;  // counter of the result, or the next to clear
  logic   [31:0] value_q;
  logic          counting;
  logic          clearing;
  logic          whole;

  assign counting  = arguments[31:0] == 32'd0;
  assign clearing  = arguments[31:0] == 32'd2;
  assign whole     = index_q == 9'd255;

  assign in_ready  = state_q == IDLE;
  assign mem_valid = state_q == READ || state_q == WRITE;
  assign mem_write = state_q == WRITE;
  assign mem_addr  = counting ? {9'd0, word_q[7:0]} : {8'd0, index_q};
  assign mem_wdata = clearing ? 32'd0 : value_q + 32'd1;
  assign out_valid = state_q == GIVE;
  assign out_data  = value_q;
  assign out_bytes = counting || clearing ? 3'd0 : 3'd4;
  assign out_last  = counting || clearing || whole;
  assign busy      = state_q != IDLE;

  always_ff @(posedge clk) begin
    if (rst) state_q <= IDLE;
    else if (ce) begin
      case (state_q)
        IDLE:
        if (in_valid) begin
          if (counting) state_q <= in_bytes != '0 ? READ : GIVE;
          else if (in_last) state_q <= clearing ? WRITE : READ;
        end
        READ: if (mem_ready) state_q <= DATA;
        DATA: if (mem_rvalid) state_q <= counting ? WRITE : GIVE;
        WRITE:
        if (mem_ready) begin
          if (clearing) state_q <= whole ? GIVE : WRITE;
          else if (left_q != 3'd1) state_q <= READ;
          else state_q <= last_q ? GIVE : IDLE;
        end
        GIVE: if (out_ready) state_q <= out_last ? IDLE : READ;
        default: state_q <= IDLE;
      endcase
    end
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      word_q <= '0;
      left_q <= '0;
      last_q <= 1'b0;
    end else if (ce && state_q == IDLE && in_valid) begin
      word_q <= in_data;
      left_q <= in_bytes;
      last_q <= in_last;
    end else if (ce && state_q == WRITE && mem_ready) begin
      word_q <= word_q >> 8;
      left_q <= left_q - 3'd1;
    end
  end

  always_ff @(posedge clk) begin
    if (rst) index_q <= '0;
    else if (ce) begin
      if (state_q == IDLE) index_q <= '0;
      else if (clearing ? state_q == WRITE && mem_ready : state_q == GIVE && out_ready)
        index_q <= index_q + 9'd1;
    end
  end

  always_ff @(posedge clk) begin
    if (rst) value_q <= '0;
    else if (ce && mem_rvalid) value_q <= mem_rdata;
  end

  logic unused;
  assign unused = &{1'b0, arguments[127:32]};
endmodule
