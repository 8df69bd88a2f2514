// Net send, link side: turns words into the packet stream of the link port and appends CRC-8 and tail.
//
// Lanes first..last-1 of an entry are sent. An entry with tail is followed by the CRC-8 of all bytes (if crc_en), or the
// inverted CRC-8 (if cut), and the GAP beat. Timing: one
// byte per clock, the first in the clock of the entry; CRC and GAP take one clock each, and so does an entry without
// bytes.
module myri_packet_tx
  import myri_nic_engines_pkg::*;
  import myri_nic_trace_pkg::*;
#(
    parameter int WIDTH = 64,  // bits of a word of SRAM, 32 or 64
    parameter int KEY_AT = -1   // position of the packet's key in bytes; -1: after Myrinet's route bytes
) (
    input logic clk,  // link clock
    input logic rst,  // synchronous reset
    input logic [47:0] cycle,  // index of the coming edge
    input logic in_valid,  // an entry is available
    output logic in_ready,  // accepted at the coming edge
    input send_head_t in_head,  // entry
    input logic [WIDTH-1:0] in_data,  // its word
    output logic s_valid,  // packet stream: beat offered
    input logic s_ready,  // accepted
    output logic s_tail,  // 1 = GAP beat
    output logic [7:0] s_data,  // byte
    output tx_trace_t trace,  // events of this clock; the key stays from head to tail
    output logic in_packet,  // between first byte and GAP
    output logic busy  // 1 = a further clock edge is needed
);
  typedef enum logic [1:0] {
    BYTES,
    CRC,
    GAP
  } state_t;

  state_t        state_q;
  logic          begun_q;  // at least one byte of the entry was sent
  logic   [ 2:0] lane_q;  // next lane when begun
  logic   [ 2:0] at;
  logic   [ 7:0] value;
  logic   [ 7:0] crc_q;
  logic   [ 7:0] crc_d;
  logic          abort_q;
  logic          sent;
  logic          empty;
  logic          final_byte;
  logic          at_gap;
  logic          key_take;
  logic   [47:0] start_q;

  assign at = begun_q ? lane_q : in_head.first;
  assign value = 8'(in_data >> {at, 3'b000});
  assign empty = {1'b0, in_head.first} == in_head.last;
  assign final_byte = {1'b0, at} + 4'd1 == in_head.last;
  assign s_valid = (state_q == BYTES) ? in_valid && !empty : 1'b1;
  assign at_gap = state_q == GAP;
  assign s_tail = at_gap;
  assign s_data = (state_q == BYTES) ? value : crc_q ^ {8{abort_q}};
  assign sent = s_valid && s_ready;
  assign in_ready = state_q == BYTES && (empty || (final_byte && s_ready));
  assign busy = sent || (in_valid && in_ready);

  myri_crc8 u_crc (
      .crc (crc_q),
      .data(value),
      .next(crc_d)
  );

  always_ff @(posedge clk) begin
    if (rst) begin
      state_q <= BYTES;
      begun_q <= 1'b0;
      lane_q <= 3'd0;
      crc_q <= 8'd0;
      abort_q <= 1'b0;
      in_packet <= 1'b0;
    end else if (state_q == BYTES) begin
      if (in_valid && in_ready) begin
        begun_q <= 1'b0;
        if (in_head.tail) begin
          state_q <= in_head.crc_en || in_head.cut ? CRC : GAP;
          abort_q <= in_head.cut;
        end
      end else if (sent) begin
        begun_q <= 1'b1;
        lane_q  <= at + 3'd1;
      end
      if (sent) begin
        crc_q <= crc_d;
        in_packet <= 1'b1;
      end
    end else if (sent && state_q == CRC) begin
      state_q <= GAP;
    end else if (sent) begin
      state_q <= BYTES;
      crc_q <= 8'd0;
      in_packet <= 1'b0;
    end
  end

  // Trace: the head is reported once the key is known, at the GAP at the latest.
  assign key_take   = sent && state_q != CRC;
  assign trace.tail = sent && state_q == GAP;
  assign trace.ago  = in_packet ? 32'(cycle - start_q) : 32'd0;

  always_ff @(posedge clk) begin
    if (rst) start_q <= 48'd0;
    else if (sent && !in_packet) start_q <= cycle;
  end

  myri_byte_key #(
      .AT(KEY_AT)
  ) u_key (
      .clk  (clk),
      .rst  (rst),
      .take (key_take),
      .tail (at_gap),
      .data (value),
      .found(trace.head),
      .key  (trace.key)
  );
endmodule
