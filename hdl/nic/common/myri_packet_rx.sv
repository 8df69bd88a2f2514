// Net receive, link side: turns the packet stream of the link port into words and checks CRC-8.
//
// Each full word is an entry as soon as its last byte has arrived. The last entry of a packet has tail = 1 and the remaining bytes, fewer than a word, including the CRC
// character. The syndrome is the CRC-8 of the whole packet with its CRC character: 0 = good.
// Timing: one character per clock without bubbles; a full word or the tail is passed on in the clock of its last
// character.
module myri_packet_rx
  import myri_nic_engines_pkg::*;
  import myri_nic_trace_pkg::*;
#(
    parameter int WIDTH = 64,  // bits of a word of SRAM, 32 or 64
    parameter int KEY_AT = -1   // position of the packet's key in bytes; -1: after Myrinet's route bytes
) (
    input  logic                   clk,        // link clock
    input  logic                   rst,        // synchronous reset
    input  logic       [     47:0] cycle,      // index of the coming edge
    input  logic                   m_valid,    // packet stream: beat offered
    output logic                   m_ready,    // accepted
    input  logic                   m_tail,     // GAP beat
    input  logic       [      7:0] m_data,     // byte
    output logic                   out_valid,  // entry for the NIC side
    input  logic                   out_ready,  // accepted
    output recv_head_t             out_head,   // entry
    output logic       [WIDTH-1:0] out_data,   // its word
    output rx_trace_t              trace,      // events of this clock
    output logic                   crc_bad,    // strobe: a packet ended with a wrong CRC-8
    output logic                   in_packet,  // between first byte and GAP
    output logic                   busy        // 1 = a further clock edge is needed
);
  logic [WIDTH-9:0] bytes_q;  // bytes of the word so far, first in lane 0
  logic [WIDTH-9:0] shown;  // without leftovers of an earlier word
  logic [      2:0] count_q;
  logic [      7:0] crc_q;
  logic [      7:0] crc_d;
  logic             word;  // this beat completes an entry
  logic             taken;
  logic [     31:0] length_q;
  logic [     47:0] start_q;

  assign word = m_tail || count_q == 3'(WIDTH / 8 - 1);
  assign m_ready = !word || out_ready;
  assign out_valid = m_valid && word;
  assign out_head.tail = m_tail;
  assign out_head.count = m_tail ? {1'b0, count_q} : 4'(WIDTH / 8);
  assign out_head.syndrome = m_tail ? crc_q : 8'd0;
  assign out_data = {m_tail ? 8'd0 : m_data, shown};
  assign taken = m_valid && m_ready;
  assign busy = taken;
  assign in_packet = length_q != 32'd0;

  myri_crc8 u_crc (
      .crc (crc_q),
      .data(m_data),
      .next(crc_d)
  );

  for (genvar i = 0; i < WIDTH / 8 - 1; i++) begin : gen_lane
    assign shown[8*i+:8] = (m_tail && count_q <= i[2:0]) ? 8'd0 : bytes_q[8*i+:8];
    always_ff @(posedge clk) begin
      if (rst) bytes_q[8*i+:8] <= 8'd0;
      else if (taken && !m_tail && count_q == i[2:0]) bytes_q[8*i+:8] <= m_data;
    end
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      count_q  <= 3'd0;
      crc_q    <= 8'd0;
      length_q <= 32'd0;
    end else if (taken) begin
      count_q  <= word ? 3'd0 : count_q + 3'd1;
      crc_q    <= m_tail ? 8'd0 : crc_d;
      length_q <= m_tail ? 32'd0 : length_q + 32'd1;
    end
  end

  assign trace.tail = taken && m_tail;
  assign trace.ago = in_packet ? 32'(cycle - start_q) : 32'd0;
  assign trace.bytes = length_q;
  assign trace.syndrome = crc_q;
  assign crc_bad = taken && m_tail && crc_q != 8'd0;

  always_ff @(posedge clk) begin
    if (rst) start_q <= 48'd0;
    else if (taken && !in_packet) start_q <= cycle;
  end

  myri_byte_key #(
      .AT(KEY_AT)
  ) u_key (
      .clk  (clk),
      .rst  (rst),
      .take (taken),
      .tail (m_tail),
      .data (m_data),
      .found(trace.head),
      .key  (trace.key)
  );
endmodule
