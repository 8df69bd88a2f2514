// Circuit "fir16": 16-tap FIR filter of signed 16-bit samples, two per word, the earlier one in the low half.
//
// y[n] = saturate((sum over k of c[k] * x[n - k]) >> 15); the samples before the first are 0. The delay line continues
// from message to message. a0 = 0: filter the payload. a0 = 1: the payload is the 16 coefficients (Q15), c[0] first;
// the delay line is cleared and the result is empty. After configuration every coefficient is 0. A payload is a whole
// number of samples; an odd byte at its end is ignored.
//
// Timing: one sample per clock, with one multiplier per tap; each word of the result is valid once its samples are in.
module myri_circuit_fir16 (
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
  localparam int TAPS = 16;

  logic signed [       15:0] coefficient                                  [0:TAPS-1];
  logic signed [16*TAPS-1:0] line_q;  // x[n-1] in the low half, and so on
  logic        [       31:0] word_q;
  logic        [        2:0] bytes_q;
  logic                      last_q;
  logic                      held_q;  // a word is being processed
  logic                      upper_q;  // the word's second sample is next
  logic                      full_q;
  logic                      loading;
  logic        [        3:0] loaded_q;
  logic signed [       15:0] sample;
  logic signed [       35:0] sum;
  logic signed [       20:0] scaled;
  logic        [       15:0] result;
  logic                      step;
  logic                      one;
  logic                      none;
  logic                      finish;

  assign loading = arguments[31:0] == 32'd1;
  assign none    = bytes_q < 3'd2;
  assign one     = bytes_q < 3'd4;
  assign sample  = upper_q ? word_q[31:16] : word_q[15:0];
  assign step    = ce && held_q && !full_q;
  assign finish  = upper_q || one;

  always_comb begin
    sum = 36'(sample * coefficient[0]);
    for (int k = 1; k < TAPS; k++) sum = sum + 36'($signed(line_q[16*(k-1)+:16]) * coefficient[k]);
  end

  assign scaled = sum[35:15];
  always_comb begin
    result = scaled[15:0];
    if (scaled > 21'sd32767) result = 16'h7FFF;
    if (scaled < -21'sd32768) result = 16'h8000;
  end

  assign in_ready  = !held_q;
  assign out_valid = full_q;
  assign busy      = held_q || full_q;
  assign mem_valid = 1'b0;
  assign mem_write = 1'b0;
  assign mem_addr  = '0;
  assign mem_wdata = '0;

  always_ff @(posedge clk) begin
    if (rst) begin
      held_q  <= 1'b0;
      upper_q <= 1'b0;
    end else if (ce && in_valid && in_ready) begin
      held_q  <= 1'b1;
      upper_q <= 1'b0;
    end else if (step) begin
      held_q  <= !finish;
      upper_q <= 1'b1;
    end
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      word_q  <= '0;
      bytes_q <= '0;
      last_q  <= 1'b0;
    end else if (ce && in_valid && in_ready) begin
      word_q  <= in_data;
      bytes_q <= in_bytes;
      last_q  <= in_last;
    end
  end

  always_ff @(posedge clk) begin
    if (rst) line_q <= '0;
    else if (step && loading) line_q <= '0;
    else if (step && !none) line_q <= {line_q[16*(TAPS-1)-1:0], sample};
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      loaded_q <= '0;
      for (int k = 0; k < TAPS; k++) coefficient[k] <= '0;
    end else if (step && loading) begin
      if (!none) coefficient[loaded_q] <= sample;
      loaded_q <= finish && last_q ? '0 : loaded_q + 4'd1;
    end
  end

  always_ff @(posedge clk) begin
    if (rst) full_q <= 1'b0;
    else if (step && finish) full_q <= last_q || !loading;
    else if (ce && full_q && out_ready) full_q <= 1'b0;
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      out_last  <= 1'b0;
      out_bytes <= '0;
      out_data  <= '0;
    end else if (step) begin
      out_last <= last_q;
      if (loading || none) out_bytes <= '0;
      else out_bytes <= one ? 3'd2 : 3'd4;
      if (upper_q) out_data[31:16] <= result;
      else out_data <= {16'd0, result};
    end
  end

  logic unused;
  assign unused = &{1'b0, arguments[127:32], sum[14:0], mem_ready, mem_rvalid, mem_rdata};
endmodule
