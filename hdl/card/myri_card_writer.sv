// Writer of a result into bank 2: the payload as it arrives from a circuit, then the header in front of it.
//
// A result longer than a segment is written segment by segment: `full` ends one, and `next` begins the one after it.
// The first four words are also kept for the header: a remote read has its parameters there.
// Layout from offset 0: 8 bytes for the route, 32 bytes of header (word 0 belongs to the NIC), the payload.
// Timing: one word per user clock; the header takes eight. No register changes without `ce`.
module myri_card_writer
  import myri_card_pkg::*;
(
    input  logic              clk,         // fabric clock
    input  logic              rst,         // synchronous reset
    input  logic              ce,          // clock enable of the user clock
    input  logic              open,        // 1 = a result is expected; falling resets the writer
    input  logic              in_valid,    // a word of the result
    output logic              in_ready,    // accepted
    input  logic              in_last,     // last word
    input  logic [ 2:0]       in_bytes,    // valid bytes in the word
    input  logic [31:0]       in_data,     // byte i in bits 8i+7:8i
    input  logic [15:0]       most,        // bytes of a segment, multiple of 4; 0 = no limit
    input  logic              next,        // begin another segment; the writer then has none
    output logic              full,        // the segment is written, and the result may continue
    output logic              ended,       // the result is written
    output logic [17:0]       count,       // bytes of the payload of the segment
    output logic [ 3:0][31:0] first,       // its first words, 0 where it has none
    input  logic              finish,      // write the header
    input  logic [15:0]       source,      // own endpoint
    input  logic [ 7:0]       channel,     // own channel
    input  logic [15:0]       to,          // destination endpoint
    input  logic [ 7:0]       to_channel,  // channel of that endpoint
    input  logic [15:0]       handler,     // handler at the destination
    input  logic [ 5:0]       kind,        // type of the message
    input  logic [ 7:0]       tree,        // its multicast tree
    input  logic              bare,        // 1 = the message has no payload
    input  logic [ 3:0][31:0] arguments,   // arguments
    output logic              finished,    // the header is written
    output logic [23:0]       slot,        // bytes of the message's slot, multiple of 8
    output logic              mem_valid,   // write of bank 2
    output logic [18:0]       mem_addr,    // word
    output logic [31:0]       mem_wdata    // write data
);
  logic [17:0] count_q;  // bytes of the payload
  logic [17:0] length;  // those of the message
  logic [2:0] word_q;  // of the header
  logic [15:0] words;
  logic [1:0] correction;
  logic [31:0] header;
  card_header_t head;
  logic [7:0][31:0] message;  // header and arguments

  assign count = count_q;
  assign length = bare ? '0 : count_q;
  assign words = 16'((length + 18'd3) >> 2);
  assign correction = 2'(words[1:0] * 3'd4 - length[2:0]);
  assign slot = 24'd40 + {6'd0, (length + 18'd7) & ~18'd7};

  assign head = {channel, to_channel, handler, words, to, kind, correction, tree, source, 32'd0};
  assign message = {arguments, head};
  assign header = message[word_q];

  assign full = most != '0 && count_q == {2'd0, most} && !ended;
  assign in_ready = open && !ended && (!full || in_bytes == '0);
  always_comb begin
    mem_valid = ce && in_ready && in_valid && in_bytes != '0;
    mem_addr  = 19'd10 + 19'(count_q >> 2);
    mem_wdata = in_data;
    if (finish && !finished) begin
      mem_valid = ce;
      mem_addr  = 19'd2 + {16'd0, word_q};
      mem_wdata = {header[7:0], header[15:8], header[23:16], header[31:24]};
    end
  end

  always_ff @(posedge clk) begin
    if (rst || !open || (ce && next)) begin
      count_q <= '0;
      ended <= 1'b0;
      word_q <= '0;
      finished <= 1'b0;
      first <= '0;
    end else if (ce) begin
      if (in_valid && in_ready) begin
        if (count_q[17:4] == '0 && in_bytes != '0) first[count_q[3:2]] <= in_data;
        count_q <= count_q + {15'd0, in_bytes};
        ended   <= in_last;
      end
      if (finish && !finished) begin
        word_q   <= word_q + 3'd1;
        finished <= word_q == 3'd7;
      end
    end
  end
endmodule
