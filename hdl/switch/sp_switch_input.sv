// Input side of an SP switch: consume the first route byte, shift the others up, correct CRC-8.
//
// The header keeps its 16 bytes: the first of its eight route bytes names the output, the others move up, and a zero
// takes the last one's place. This changes the packet's CRC-8 by the CRC of (header as received XOR header as sent),
// followed by as many zero bytes as the packet has after it. The difference is updated in `diff_q` and XORed into the
// CRC byte: good stays good, an error stays visible.
//
// Timing: the request is valid cfg_fall_through edges after the route byte was accepted, less one for each character
// that follows it in the slack buffer already (at least 0), so back-to-back packets fall through only once. The first
// byte may leave two edges after the request. One character per edge.
module sp_switch_input
  import sp_packet_pkg::*;
#(
    parameter int PORTS = 8,  // ports of the switch: 4, 8 or 16
    parameter int SELF  = 0   // this port
) (
    input  logic             clk,               // character clock
    input  logic             rst,               // synchronous reset
    input  logic [PORTS-1:0] present,           // ports with a cable
    input  logic [      7:0] cfg_fall_through,  // edges from route byte to request
    input  logic [      7:0] fill,              // characters in the slack buffer
    input  logic             m_valid,           // packet stream from the slack buffer
    output logic             m_ready,           // accepted at the coming edge
    input  logic             m_tail,            // this beat is the GAP
    input  logic [      7:0] m_data,            // byte
    output logic             request,           // strobe: request the output request_port
    output logic [      3:0] request_port,      // requested output
    input  logic             active,            // the packet has an output or is queued
    output logic             x_valid,           // stream to the output or the central queue
    input  logic             x_ready,           // accepted at the coming edge
    output logic             x_tail,            // this beat is the GAP
    output logic [      7:0] x_data,            // byte
    output logic [      3:0] port,              // output of the packet
    output logic             gap_leaves,        // strobe: the GAP leaves this input
    output logic             ev_bad_route,      // strobe: a packet with a bad route is dropped
    output logic             ev_absent,         // strobe: a packet for an absent port is dropped
    output logic             tr_head,           // strobe: route byte decoded, port is valid
    output logic [     31:0] tr_key,            // first word of the VIA header, big-endian
    output logic             busy               // 1 = a further clock edge is needed
);
  localparam int PW = $clog2(PORTS);
  localparam logic [6:0] LIMIT = 7'(PORTS);
  localparam logic [4:0] LAST_ROUTE = 5'(ROUTE_BYTES - 1);  // place of the zero
  localparam logic [4:0] KEY = 5'(HEADER_BYTES);  // place of the first byte of the key
  localparam logic [4:0] KEY_END = 5'(HEADER_BYTES + 4);

  logic       in_body_q;  // the route byte of this packet was taken
  logic       dropping_q;  // this packet is consumed to its tail
  logic       held_q;  // a beat is held back
  logic       held_tail_q;  // this beat is the GAP
  logic [7:0] held_byte_q;  // the held byte, or the last byte sent
  logic       falling_q;  // decoded but not yet requested
  logic [7:0] fall_left_q;
  logic [7:0] fall;  // edges still to fall
  logic [4:0] place_q;  // beats of this packet that were held, up to KEY_END
  logic       zero;  // the next beat is the zero after the route
  logic       room;  // a beat can be held at the coming edge
  logic fire, take_route, load, accepted;
  logic [7:0] next_byte;
  logic [7:0] diff_q;
  logic [7:0] diff_in;
  logic [7:0] diff_d;
  logic [6:0] target;  // this port + delta

  assign zero = in_body_q && place_q == LAST_ROUTE;
  assign x_valid = active && held_q && (held_tail_q || m_valid || zero);
  assign x_tail = held_tail_q;
  assign x_data = (m_tail && place_q > LAST_ROUTE + 5'd1) ? held_byte_q ^ diff_q : held_byte_q;
  assign fire = x_valid && x_ready;
  assign gap_leaves = fire && held_tail_q;
  assign room = !held_q || fire;
  assign m_ready = room && !zero;
  assign take_route = m_valid && room && !in_body_q && !dropping_q && !m_tail;
  assign load = in_body_q && room && (zero || m_valid);
  assign next_byte = zero ? 8'h00 : m_data;

  // Route.
  assign target = 7'(SELF) + {m_data[5], m_data[5:0]};
  always_comb begin
    accepted = 1'b0;
    ev_bad_route = 1'b0;
    ev_absent = 1'b0;
    if (take_route) begin
      if (m_data[7:6] != 2'b10 || target >= LIMIT) ev_bad_route = 1'b1;
      else if (!present[target[PW-1:0]]) ev_absent = 1'b1;
      else accepted = 1'b1;
    end
  end
  assign fall = cfg_fall_through >= fill ? cfg_fall_through - fill + 8'd1 : 8'd0;
  assign request = falling_q ? fall_left_q == 8'd1 : accepted && fall == 8'd0;
  assign request_port = falling_q ? port : target[3:0];
  assign busy = (m_valid && m_ready) || load || fire || falling_q || tr_head;

  always_ff @(posedge clk) begin
    if (rst) begin
      in_body_q <= 1'b0;
      dropping_q <= 1'b0;
      held_q <= 1'b0;
      held_tail_q <= 1'b0;
      falling_q <= 1'b0;
      tr_head <= 1'b0;
      port <= 4'd0;
      place_q <= 5'd0;
    end else begin
      in_body_q <= (in_body_q && !(load && !zero && m_tail)) || accepted;
      dropping_q <= (dropping_q && !(m_valid && m_ready && m_tail)) || ev_bad_route || ev_absent;
      held_q <= (held_q && !fire) || load;
      if (load) held_tail_q <= !zero && m_tail;
      else if (fire) held_tail_q <= 1'b0;
      falling_q <= (falling_q || accepted) && !request;
      tr_head   <= accepted;
      if (accepted) port <= target[3:0];
      if (accepted) place_q <= 5'd0;
      else if (load && place_q != KEY_END) place_q <= place_q + 5'd1;
    end
  end

  // No reset: these registers are valid only under the flags above.
  assign diff_in = place_q <= LAST_ROUTE ? diff_q ^ held_byte_q ^ next_byte : diff_q;
  myri_crc8 u_diff (
      .crc (8'h00),
      .data(diff_in),
      .next(diff_d)
  );
  always_ff @(posedge clk) begin
    if (take_route) held_byte_q <= m_data;
    else if (load) held_byte_q <= next_byte;
    if (take_route) diff_q <= 8'h00;
    else if (load && place_q != LAST_ROUTE + 5'd1) diff_q <= diff_d;
    if (accepted) fall_left_q <= fall;
    else if (falling_q) fall_left_q <= fall_left_q - 8'd1;
  end

  always_ff @(posedge clk) begin
    if (rst) tr_key <= 32'd0;
    else if (load && place_q >= KEY && place_q < KEY_END) tr_key <= {tr_key[23:0], m_data};
  end
endmodule
