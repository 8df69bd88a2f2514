// Input sides of a switch: strip the route byte, request an output, correct CRC-8.
//
// One byte is held back so that the last one before the GAP, the CRC-8, can be recognised. Removing the route byte R
// from the front changes a packet's CRC by the CRC of R followed by as many zero bytes as the packet has after it. This
// difference is updated in `diff_q` and XORed into the CRC byte, which becomes crc8(packet without R) XOR the incoming
// syndrome: good stays good, an error stays visible.
//
// Timing: the request is valid cfg_fall_through edges after the edge that accepts the route byte; the first byte may
// leave two edges after that. One character per edge; the route byte of the next packet is accepted at the edge at
// which the GAP leaves. Ports are bits of masks (see myri_link_tx).
module myri_switch_input
  import myri_sleep_pkg::*;
#(
    parameter int PORTS = 8  // ports of the switch: 4, 8 or 16
) (
    input  logic                clk,               // character clock
    input  logic [   PORTS-1:0] gated_clk,         // clock of each port, see myri_switch
    input  logic                rst,               // synchronous reset
    input  logic [   PORTS-1:0] present,           // ports with a cable
    input  logic [         7:0] cfg_fall_through,  // further edges from route byte to request
    input  logic [   PORTS-1:0] m_valid,           // packet streams from the slack buffers
    output logic [   PORTS-1:0] m_ready,           // accepted at the coming edge
    input  logic [   PORTS-1:0] m_tail,            // this beat is the GAP
    input  logic [ 8*PORTS-1:0] m_data,            // byte
    output logic [   PORTS-1:0] request,           // strobe: request the output request_port
    output logic [ 4*PORTS-1:0] request_port,      // requested output
    input  logic [   PORTS-1:0] active,            // this input owns its output
    output logic [   PORTS-1:0] x_valid,           // streams to the granted outputs
    input  logic [   PORTS-1:0] s_ready,           // per output: accepts a beat at the coming edge
    output logic [   PORTS-1:0] x_tail,            // this beat is the GAP
    output logic [ 8*PORTS-1:0] x_data,            // byte
    output logic [   PORTS-1:0] gap_leaves,        // strobe: a GAP is sent to its output
    output logic [   PORTS-1:0] ev_bad_route,      // strobe: a packet with a bad route is dropped
    output logic [   PORTS-1:0] ev_absent,         // strobe: a packet for an absent port is dropped
    output logic [   PORTS-1:0] tr_head,           // strobe: route byte decoded, out is valid
    output logic [ 4*PORTS-1:0] out,               // output of the packet at the head
    output logic [32*PORTS-1:0] key,               // first four bytes after the route, big-endian
    output logic [   PORTS-1:0] input_needed,      // clock enables of these clocks
    output logic                busy               // 1 = a further clock edge is needed
);
  localparam int PW = $clog2(PORTS);
  localparam logic [6:0] LIMIT = 7'(PORTS);

  logic [  PORTS-1:0] in_body_q;  // the route byte of this packet was taken
  logic [  PORTS-1:0] dropping_q;  // this packet is consumed to its tail
  logic [  PORTS-1:0] held_q;  // a beat is held back
  logic [  PORTS-1:0] falling_q;  // decoded but not yet requested
  logic [  PORTS-1:0] x_ready;  // the output accepts
  logic [  PORTS-1:0] fire;  // the held beat is sent
  logic [  PORTS-1:0] take;  // a beat arrives from the slack buffer
  logic [  PORTS-1:0] take_body;  // the accepted beat is to be held
  logic [  PORTS-1:0] take_route;  // the accepted beat is a route byte to be decoded
  logic [  PORTS-1:0] take_tail;  // this beat is the GAP
  logic [  PORTS-1:0] accepted;  // the route byte names a present output
  logic [8*PORTS-1:0] fall_left_q;  // edges until the request of a packet that falls through
  logic [7*PORTS-1:0] target;  // in + delta

  assign x_valid = active & held_q & (x_tail | m_valid);
  assign fire = x_valid & x_ready;
  always_comb begin : readiness
    logic [PORTS-1:0] ready;
    ready = '0;
    for (int i = 0; i < PORTS; i++) if (x_valid[i]) ready[i] = s_ready[out[4*i+:PW]];
    x_ready = ready;
  end
  assign m_ready = ~held_q | fire;
  assign take = m_valid & m_ready;
  assign take_tail = take & m_tail;
  assign take_body = take & in_body_q;
  assign take_route = take & ~(in_body_q | dropping_q | m_tail);
  assign gap_leaves = fire & x_tail;
  assign input_needed = take | fire;
  assign busy = (input_needed | falling_q | tr_head) != '0;

  // Only one route byte per packet: no decoding at other times in a simulator. `take_route` is late in a clock.
  always_comb begin : decoding
    logic [PORTS-1:0] well, bad, absent;
    logic [7*PORTS-1:0] to;
    well = '0;
    bad = '0;
    absent = '0;
    to = '0;
    if (EVALUATE_ALWAYS || take_route != '0) begin
      for (int i = 0; i < PORTS; i++) begin
        if (EVALUATE_ALWAYS || take_route[i]) begin
          to[7*i+:7] = 7'(i) + {m_data[8*i+5], m_data[8*i+:6]};
          if (m_data[8*i+6+:2] != 2'b10 || to[7*i+:7] >= LIMIT) bad[i] = 1'b1;
          else if (!present[to[7*i+:PW]]) absent[i] = 1'b1;
          else well[i] = 1'b1;
        end
      end
    end
    accepted = well & take_route;
    ev_bad_route = bad & take_route;
    ev_absent = absent & take_route;
    target = to;
  end

  always_comb begin : requests
    logic [  PORTS-1:0] asking;
    logic [4*PORTS-1:0] for_port;
    asking   = '0;
    for_port = '0;
    if (EVALUATE_ALWAYS || (falling_q | accepted) != '0) begin
      for (int i = 0; i < PORTS; i++) begin
        if (falling_q[i] && fall_left_q[8*i+:8] == 8'd1) begin
          asking[i] = 1'b1;
          for_port[4*i+:4] = out[4*i+:4];
        end
        if (!falling_q[i] && accepted[i] && cfg_fall_through == 8'd0) begin
          asking[i] = 1'b1;
          for_port[4*i+:4] = target[7*i+:4];
        end
      end
    end
    request = asking;
    request_port = for_port;
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      in_body_q <= '0;
      dropping_q <= '0;
      held_q <= '0;
      x_tail <= '0;
      falling_q <= '0;
      tr_head <= '0;
    end else begin
      in_body_q <= (in_body_q & ~take_tail) | accepted;
      dropping_q <= (dropping_q & ~take_tail) | (take_route & ~accepted);
      held_q <= (held_q & ~fire) | take_body;
      x_tail <= (x_tail & ~take_body) | (take_body & m_tail);
      falling_q <= (falling_q | accepted) & ~request;
      tr_head <= accepted;
    end
  end

  // Request of a packet, and its time.
  always_ff @(posedge clk) begin
    if (rst) out <= '0;
    else if (EVALUATE_ALWAYS || accepted != '0) begin
      for (int i = 0; i < PORTS; i++) if (accepted[i]) out[4*i+:4] <= target[7*i+:4];
    end
  end
  always_ff @(posedge clk) begin
    if (EVALUATE_ALWAYS || (accepted | falling_q) != '0) begin
      for (int i = 0; i < PORTS; i++) begin
        if (accepted[i]) fall_left_q[8*i+:8] <= cfg_fall_through;
        else if (falling_q[i]) fall_left_q[8*i+:8] <= fall_left_q[8*i+:8] - 8'd1;
      end
    end
  end

  for (genvar i = 0; i < PORTS; i++) begin : gen_port
    logic own_clk;
    assign own_clk = gated_clk[i];
    logic [ 7:0] m_byte;
    logic [ 7:0] held_byte_q;
    logic [ 7:0] diff_q;
    logic [ 2:0] key_bytes_q;
    logic [31:0] key_q;

    assign m_byte = m_data[8*i+:8];
    assign x_data[8*i+:8] = m_tail[i] ? held_byte_q ^ diff_q : held_byte_q;
    assign key[32*i+:32] = key_q;

    // No reset: these registers are valid only under the flags above.
    always_ff @(posedge own_clk) begin
      if (take_body[i]) held_byte_q <= m_byte;
      if (take_route[i]) diff_q <= myri_crc8_pkg::crc8(8'h00, m_byte);
      else if (fire[i]) diff_q <= myri_crc8_pkg::crc8(8'h00, diff_q);
    end

    // Packet key: the first four bytes from the first one whose top bit is clear.
    always_ff @(posedge own_clk) begin
      if (rst) begin
        key_bytes_q <= 3'd4;
        key_q <= 32'd0;
      end else if (accepted[i]) key_bytes_q <= 3'd0;
      else if (!key_bytes_q[2] && fire[i] && !x_tail[i] && (key_bytes_q != 3'd0 || !held_byte_q[7])) begin
        key_bytes_q <= key_bytes_q + 3'd1;
        key_q <= {key_q[23:0], held_byte_q};
      end
    end
  end
endmodule
