// Send side of the SP adapter: the packet's own words, the right engine from the Send FIFO, and the send buffer of the
// link interface.
//
// SEND0..SEND5 and OWN0..OWN15 keep their written values. SEND_START requests a packet: switch header and VIA header
// from SEND0..SEND5, then user data: whole words of the Send FIFO, or up to 64 bytes from OWN0 on. It begins when all
// words are in the Send FIFO. The header enters the send buffer just ahead of the first word, so that the link starts
// then. Each word of user data crosses the internal bus. `free`: the next packet may be written. A SEND_START without a
// packet is ignored and flagged by `misuse`.
// Timing: the header takes three clocks, user data one clock per word while the bus is granted.
module sp_send
  import myri_nic_engines_pkg::*;
  import myri_nic_trace_pkg::*;
  import sp_adapter_pkg::*;
#(
    parameter int FIFO_LOG2   = 9,  // words of the Send FIFO = 2**FIFO_LOG2
    parameter int BUFFER_LOG2 = 9   // words of the send buffer = 2**BUFFER_LOG2
) (
    input logic clk,  // NIC clock
    input logic rst,  // synchronous reset
    input logic w_word,  // write of one of SEND0..SEND5
    input logic w_own,  // write of one of OWN0..OWN15
    input logic [3:0] w_index,  // which, of both
    input logic w_start,  // write of SEND_START
    input logic [31:0] w_data,  // value of all
    output logic free,  // all of them may be written
    output logic misuse,  // strobe: a SEND_START was ignored
    output logic set_sent,  // strobe: the whole packet is in the send buffer
    input logic [FIFO_LOG2:0] level,  // words in the Send FIFO
    output logic in_ready,  // a word of it is taken
    input logic [63:0] in_data,  // byte lanes
    output logic bus_req,  // internal bus: request
    input logic bus_gnt,  // grant
    output logic send_valid,  // entry for myri_packet_tx
    input logic send_ready,  // accepted
    output send_head_t send_head,  // its fields
    output logic [63:0] send_data,  // its byte lanes
    output send_trace_t trace,  // events of this clock
    output logic in_flight,  // a packet is partly in the send buffer
    output logic busy  // 1 = a further clock edge is needed
);
  typedef enum logic [1:0] {
    IDLE,  // wait for SEND_START and its data
    HEADER,  // send three words of headers
    DATA,  // send words of user data
    OWN  // send user data from OWN0 on
  } state_t;

  localparam logic [3:0] KEY_PLACE = 4'd2;  // SEND4, the packet's key

  // SEND0 and on from place 0, OWN0 and on from place 8; two words a place.
  logic [31:0] evens[0:15];
  logic [31:0] odds [0:15];
  logic [15:0] even_known_q, odd_known_q;  // words written since reset; the others are 0
  logic [3:0] write_place, read_place;
  logic   writes;
  state_t state_q;
  logic   waiting_q;  // a SEND_START waits for the right engine
  logic [11:0]
      bytes_q, left_q;  // user bytes from the Send FIFO: of the waiting packet; still to move
  logic [6:0] own_q, own_now_q;  // user bytes out of OWN0 and on, likewise
  logic [2:0] place_q;  // word of the headers, or of OWN0 and on
  logic [31:0] even, odd, own_key, key_now_q;
  logic [11:0] bytes_now_q;
  logic starts;  // the right engine begins with a packet
  logic [31:0] key, bytes;  // key and user bytes of the packet
  logic whole, accepted, put, last, e_valid, e_ready, f_busy, own_size, fifo_size;
  sp_start_t asked;  // the written value, as SEND_START
  send_head_t e_head;
  logic [3:0] e_last;
  logic [63:0] e_data, pair;
  logic [BUFFER_LOG2:0] fill;
  logic unused_ok;

  assign asked = w_data;
  assign own_size = asked.own <= 7'(SIZE_INLINE) && asked.fifo == 12'd0;
  assign fifo_size = asked.fifo <= 12'(SIZE_USER) && asked.own == 7'd0;
  assign accepted = w_start && !waiting_q && (own_size || fifo_size);
  assign misuse = w_start && !accepted;
  assign free = !waiting_q;
  assign whole = 13'(level) >= {4'd0, bytes_q[11:3]} + 13'(bytes_q[2:0] != 3'd0);
  assign starts = state_q == IDLE && waiting_q && whole;

  // Words for the send buffer.
  assign writes = w_own || (w_word && !w_index[3]);
  assign write_place = {w_own, w_index[3:1]};
  assign read_place = {state_q == OWN, state_q == OWN && place_q[2], place_q[1:0]};
  assign even = even_known_q[read_place] ? evens[read_place] : 32'd0;
  assign odd = odd_known_q[read_place] ? odds[read_place] : 32'd0;
  assign own_key = even_known_q[KEY_PLACE] ? evens[KEY_PLACE] : 32'd0;
  assign pair = {
    odd[7:0], odd[15:8], odd[23:16], odd[31:24], even[7:0], even[15:8], even[23:16], even[31:24]
  };
  assign e_data = state_q == DATA ? in_data : pair;
  assign last = state_q == HEADER ? place_q == 3'd2 && left_q == 12'd0 && own_now_q == 7'd0 :
      state_q == OWN ? own_now_q <= 7'd8 : left_q <= 12'd8;
  assign e_head = {1'b1, 1'b0, last, 3'd0, e_last};  // with CRC-8, from lane 0 on
  assign e_last = state_q == HEADER ? 4'd8 : state_q == OWN ? (own_now_q >= 7'd8 ? 4'd8 : own_now_q[3:0]) :
      left_q >= 12'd8 ? 4'd8 : left_q[3:0];
  assign bus_req = state_q == DATA && e_ready;
  assign e_valid = state_q == HEADER || state_q == OWN || (state_q == DATA && bus_gnt);
  assign put = e_valid && e_ready;
  assign in_ready = state_q == DATA && put;
  assign set_sent = put && last;
  assign key = starts ? own_key : key_now_q;
  assign bytes = {20'd0, starts ? bytes_q + {5'd0, own_q} : bytes_now_q};
  assign trace = {
    starts, 32'd0, 24'd0, key, set_sent, key, bytes
  };  // packets do not pass through SRAM
  assign in_flight = state_q != IDLE || waiting_q || send_valid;
  assign busy = w_word || w_own || w_start || starts || put || f_busy;
  assign unused_ok = ^{asked.reserved, asked.spare, fill};

  myri_fifo #(
      .WIDTH($bits(send_head_t) + 64),
      .DEPTH_LOG2(BUFFER_LOG2)
  ) u_buffer (
      .clk(clk),
      .rst(rst),
      .w_valid(e_valid),
      .w_ready(e_ready),
      .w_data({e_head, e_data}),
      .r_valid(send_valid),
      .r_ready(send_ready),
      .r_data({send_head, send_data}),
      .level(fill),
      .busy(f_busy)
  );

  always_ff @(posedge clk) begin
    if (rst) {even_known_q, odd_known_q} <= '0;
    else if (writes && w_index[0]) odd_known_q[write_place] <= 1'b1;
    else if (writes) even_known_q[write_place] <= 1'b1;
  end
  always_ff @(posedge clk) if (writes && !w_index[0]) evens[write_place] <= w_data;
  always_ff @(posedge clk) if (writes && w_index[0]) odds[write_place] <= w_data;

  always_ff @(posedge clk) begin
    if (rst) begin
      state_q <= IDLE;
      {waiting_q, bytes_q, left_q, own_q, own_now_q, place_q, key_now_q, bytes_now_q} <= '0;
    end else begin
      if (accepted) begin
        waiting_q <= 1'b1;
        bytes_q <= asked.fifo;
        own_q <= asked.own;
      end
      if (starts) begin
        state_q <= HEADER;
        left_q <= bytes_q;
        own_now_q <= own_q;
        place_q <= 3'd0;
      end
      if (put) begin
        place_q <= place_q + 3'd1;
        if (state_q == HEADER && place_q == 3'd2) begin
          place_q <= 3'd0;
          state_q <= left_q != 12'd0 ? DATA : own_now_q != 7'd0 ? OWN : IDLE;
          if (own_now_q == 7'd0) waiting_q <= 1'b0;
        end
        if (state_q == OWN) own_now_q <= own_now_q - {3'd0, e_last};
        if (state_q == OWN && last) waiting_q <= 1'b0;
        if (state_q == DATA) left_q <= left_q - {8'd0, e_last};
        if (state_q != HEADER && last) state_q <= IDLE;
      end
      // Key of the current packet, also while the next one is written.
      if (state_q == IDLE) key_now_q <= own_key;
      if (state_q == IDLE) bytes_now_q <= bytes_q + {5'd0, own_q};
    end
  end
endmodule
