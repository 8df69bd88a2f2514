// Circuit "sha256": SHA-256 digest of the payload (FIPS 180-4), 32 bytes.
//
// Timing: 16 clocks to read a block of 64 bytes, 64 rounds of one clock, one clock to add. Padding adds one or two
// blocks. Then eight words of digest.
module myri_circuit_sha256 (
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
    FILL,   // words of the message
    PAD,    // words of padding
    ROUND,  // 64 of them
    ADD,    // chaining
    GIVE    // the digest
  } state_t;

  state_t         state_q;
  logic   [511:0] schedule_q;  // the next 16 words, the first in the highest bits
  logic   [255:0] chain_q;  // h0 in the highest bits
  logic   [255:0] work_q;  // a in the highest bits
  logic   [  3:0] words_q;  // words of the block received
  logic   [  5:0] round_q;
  logic   [ 31:0] length_q;  // bytes of the message
  logic           ended_q;  // the message and its end bit are in
  logic           marked_q;  // the end bit is in
  logic           final_block_q;
  logic   [  2:0] given_q;

  // ---------------------------------------------------------------- a word of the block
  logic   [ 31:0] swapped;
  logic   [ 31:0] with_mark;
  logic   [ 31:0] fill;
  assign swapped = {in_data[7:0], in_data[15:8], in_data[23:16], in_data[31:24]};
  always_comb begin
    case (in_bytes)
      3'd0: with_mark = 32'h8000_0000;
      3'd1: with_mark = {swapped[31:24], 24'h80_0000};
      3'd2: with_mark = {swapped[31:16], 16'h8000};
      3'd3: with_mark = {swapped[31:8], 8'h80};
      default: with_mark = swapped;
    endcase
  end

  logic push, size_now;
  assign size_now = marked_q && words_q == 4'd15 && ended_q;
  always_comb begin
    fill = 32'd0;
    if (state_q == FILL) fill = with_mark;
    else if (!marked_q) fill = 32'h8000_0000;
    else if (final_block_q && words_q == 4'd14) fill = {29'd0, length_q[31:29]};
    else if (final_block_q && size_now) fill = {length_q[28:0], 3'd0};
  end
  assign push = ce && ((state_q == FILL && in_valid) || state_q == PAD);

  // ---------------------------------------------------------------- a round
  function automatic logic [31:0] constant_of(input logic [5:0] number);
    case (number)
      6'd0: constant_of = 32'h428a2f98;
      6'd1: constant_of = 32'h71374491;
      6'd2: constant_of = 32'hb5c0fbcf;
      6'd3: constant_of = 32'he9b5dba5;
      6'd4: constant_of = 32'h3956c25b;
      6'd5: constant_of = 32'h59f111f1;
      6'd6: constant_of = 32'h923f82a4;
      6'd7: constant_of = 32'hab1c5ed5;
      6'd8: constant_of = 32'hd807aa98;
      6'd9: constant_of = 32'h12835b01;
      6'd10: constant_of = 32'h243185be;
      6'd11: constant_of = 32'h550c7dc3;
      6'd12: constant_of = 32'h72be5d74;
      6'd13: constant_of = 32'h80deb1fe;
      6'd14: constant_of = 32'h9bdc06a7;
      6'd15: constant_of = 32'hc19bf174;
      6'd16: constant_of = 32'he49b69c1;
      6'd17: constant_of = 32'hefbe4786;
      6'd18: constant_of = 32'h0fc19dc6;
      6'd19: constant_of = 32'h240ca1cc;
      6'd20: constant_of = 32'h2de92c6f;
      6'd21: constant_of = 32'h4a7484aa;
      6'd22: constant_of = 32'h5cb0a9dc;
      6'd23: constant_of = 32'h76f988da;
      6'd24: constant_of = 32'h983e5152;
      6'd25: constant_of = 32'ha831c66d;
      6'd26: constant_of = 32'hb00327c8;
      6'd27: constant_of = 32'hbf597fc7;
      6'd28: constant_of = 32'hc6e00bf3;
      6'd29: constant_of = 32'hd5a79147;
      6'd30: constant_of = 32'h06ca6351;
      6'd31: constant_of = 32'h14292967;
      6'd32: constant_of = 32'h27b70a85;
      6'd33: constant_of = 32'h2e1b2138;
      6'd34: constant_of = 32'h4d2c6dfc;
      6'd35: constant_of = 32'h53380d13;
      6'd36: constant_of = 32'h650a7354;
      6'd37: constant_of = 32'h766a0abb;
      6'd38: constant_of = 32'h81c2c92e;
      6'd39: constant_of = 32'h92722c85;
      6'd40: constant_of = 32'ha2bfe8a1;
      6'd41: constant_of = 32'ha81a664b;
      6'd42: constant_of = 32'hc24b8b70;
      6'd43: constant_of = 32'hc76c51a3;
      6'd44: constant_of = 32'hd192e819;
      6'd45: constant_of = 32'hd6990624;
      6'd46: constant_of = 32'hf40e3585;
      6'd47: constant_of = 32'h106aa070;
      6'd48: constant_of = 32'h19a4c116;
      6'd49: constant_of = 32'h1e376c08;
      6'd50: constant_of = 32'h2748774c;
      6'd51: constant_of = 32'h34b0bcb5;
      6'd52: constant_of = 32'h391c0cb3;
      6'd53: constant_of = 32'h4ed8aa4a;
      6'd54: constant_of = 32'h5b9cca4f;
      6'd55: constant_of = 32'h682e6ff3;
      6'd56: constant_of = 32'h748f82ee;
      6'd57: constant_of = 32'h78a5636f;
      6'd58: constant_of = 32'h84c87814;
      6'd59: constant_of = 32'h8cc70208;
      6'd60: constant_of = 32'h90befffa;
      6'd61: constant_of = 32'ha4506ceb;
      6'd62: constant_of = 32'hbef9a3f7;
      default: constant_of = 32'hc67178f2;
    endcase
  endfunction

  function automatic logic [31:0] rotate(input logic [31:0] value, input int by);
    rotate = (value >> by) | (value << (32 - by));
  endfunction

  logic [31:0] a, b, c, d, e, f, g, h, t1, t2, w_next, w1, w14;
  assign {a, b, c, d, e, f, g, h} = work_q;
  assign w1 = schedule_q[479:448];
  assign w14 = schedule_q[63:32];
  assign t1 = h + (rotate(
      e, 6
  ) ^ rotate(
      e, 11
  ) ^ rotate(
      e, 25
  )) + ((e & f) ^ (~e & g)) + constant_of(
      round_q
  ) + schedule_q[511:480];
  assign t2 = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
  assign w_next = schedule_q[511:480] + (rotate(
      w1, 7
  ) ^ rotate(
      w1, 18
  ) ^ (w1 >> 3)) + schedule_q[223:192] + (rotate(
      w14, 17
  ) ^ rotate(
      w14, 19
  ) ^ (w14 >> 10));

  // ---------------------------------------------------------------- state
  localparam logic [255:0] START = {
    32'h6a09e667,
    32'hbb67ae85,
    32'h3c6ef372,
    32'ha54ff53a,
    32'h510e527f,
    32'h9b05688c,
    32'h1f83d9ab,
    32'h5be0cd19
  };

  assign in_ready  = state_q == FILL;
  assign out_valid = state_q == GIVE;
  assign out_last  = given_q == 3'd7;
  assign out_bytes = 3'd4;
  assign out_data  = {chain_q[231:224], chain_q[239:232], chain_q[247:240], chain_q[255:248]};
  assign busy      = state_q != FILL;
  assign mem_valid = 1'b0;
  assign mem_write = 1'b0;
  assign mem_addr  = '0;
  assign mem_wdata = '0;

  always_ff @(posedge clk) begin
    if (rst) state_q <= FILL;
    else if (ce) begin
      case (state_q)
        FILL:
        if (in_valid) begin
          if (words_q == 4'd15) state_q <= ROUND;
          else if (in_last) state_q <= PAD;
        end
        PAD: if (words_q == 4'd15) state_q <= ROUND;
        ROUND: if (round_q == 6'd63) state_q <= ADD;
        ADD:
        if (!ended_q) state_q <= FILL;
        else state_q <= final_block_q ? GIVE : PAD;
        GIVE: if (out_ready && out_last) state_q <= FILL;
        default: state_q <= FILL;
      endcase
    end
  end

  always_ff @(posedge clk) begin
    if (rst) schedule_q <= '0;
    else if (push) schedule_q <= {schedule_q[479:0], fill};
    else if (ce && state_q == ROUND) schedule_q <= {schedule_q[479:0], w_next};
  end

  always_ff @(posedge clk) begin
    if (rst) words_q <= '0;
    else if (push) words_q <= words_q + 4'd1;
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      ended_q       <= 1'b0;
      marked_q      <= 1'b0;
      final_block_q <= 1'b0;
      length_q      <= '0;
    end else if (ce && state_q == GIVE && out_ready && out_last) begin
      ended_q       <= 1'b0;
      marked_q      <= 1'b0;
      final_block_q <= 1'b0;
      length_q      <= '0;
    end else if (push && state_q == FILL) begin
      length_q <= length_q + 32'(in_bytes);
      if (in_last) begin
        ended_q       <= 1'b1;
        marked_q      <= in_bytes != 3'd4;
        final_block_q <= in_bytes != 3'd4 ? words_q < 4'd14 : words_q < 4'd13;
      end
    end else if (push) begin
      marked_q <= 1'b1;
      if (words_q == '0) final_block_q <= 1'b1;
    end
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      work_q  <= START;
      round_q <= '0;
    end else if (ce) begin
      if (state_q == ROUND) begin
        work_q  <= {t1 + t2, a, b, c, d + t1, e, f, g};
        round_q <= round_q + 6'd1;
      end else begin
        work_q <= chain_q;
      end
    end
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      chain_q <= START;
      given_q <= '0;
    end else if (ce && state_q == ADD) begin
      chain_q <= {
        chain_q[255:224] + a,
        chain_q[223:192] + b,
        chain_q[191:160] + c,
        chain_q[159:128] + d,
        chain_q[127:96] + e,
        chain_q[95:64] + f,
        chain_q[63:32] + g,
        chain_q[31:0] + h
      };
    end else if (ce && state_q == GIVE && out_ready) begin
      chain_q <= out_last ? START : {chain_q[223:0], 32'd0};
      given_q <= given_q + 3'd1;
    end
  end

  logic unused;
  assign unused = &{1'b0, arguments, mem_ready, mem_rvalid, mem_rdata};
endmodule
