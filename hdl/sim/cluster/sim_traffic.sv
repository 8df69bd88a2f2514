// Synthetic traffic for one switch port: packet source with an infinite queue, checking sink.
//
// Source: at every character clock a packet arrives in the queue with probability cfg_load / 65536 / cfg_length; with
// cfg_load >= 65536 the queue is never empty. Packets are cfg_length characters on this wire (route, type, payload,
// CRC-8, GAP) to a uniformly drawn port. The source obeys STOP and GO. Sink: accepts everything, never sends STOP,
// checks CRC-8.
// Timing: `tx` is registered. Free running; meant for the study and the benchmark.
module sim_traffic
  import myri_symbol_pkg::*;
#(
    parameter int PORTS = 8,  // ports of the switch, a power of two
    parameter int ID    = 0   // the port it is attached to
) (
    input  logic        clk,               // character clock
    input  logic        rst,               // synchronous reset, reloads the seed
    input  logic        enable,            // new packets may arrive and start
    input  logic [31:0] cfg_seed,          // seed of the random sequence, mixed with ID
    input  logic [16:0] cfg_load,          // offered load, in 1/65536 of a character per clock
    input  logic [15:0] cfg_length,        // characters of a packet on this wire, 7 .. 65535
    input  logic        cfg_self,          // destinations: 1 = all ports, 0 = all other ports
    input  logic [ 8:0] rx,                // characters from the switch
    output logic [ 8:0] tx,                // characters to the switch
    output logic [31:0] offered,           // packets that arrived in the queue
    output logic [31:0] backlog,           // packets waiting in the queue
    output logic [31:0] received_chars,    // data characters and GAPs received
    output logic [31:0] received_packets,  // packets received
    output logic [31:0] crc_errors         // of these, packets whose CRC-8 is wrong
);
  localparam int PW = $clog2(PORTS);
  localparam logic [31:0] MIX = 32'h9E3779B9;
  localparam logic [PW-1:0] SELF = PW'(ID);

  logic [  31:0] random_q;
  logic [  31:0] x0;
  logic [  31:0] x1;
  logic          saturated;
  logic          arrival;
  logic          hungry;  // a packet may start
  logic          start;
  logic          stopped_q;
  logic          sending_q;
  logic [  15:0] left_q;  // characters after the next one
  logic [   6:0] salt_q;  // of this packet's payload
  logic [   7:0] crc_q;
  logic [   7:0] body;
  logic [   7:0] route;
  logic [   7:0] sink_crc_q;
  logic [PW-1:0] skew;
  logic [PW-1:0] target;

  // The same function as myri_crc8, here so that it is evaluated only when a byte moves.
  function automatic logic [7:0] crc8(input logic [7:0] x);
    logic [9:0] w;
    w = {2'b00, x} ^ {1'b0, x, 1'b0} ^ {x, 2'b00};
    crc8 = w[7:0] ^ {6'd0, w[9:8]} ^ {5'd0, w[9:8], 1'b0} ^ {4'd0, w[9:8], 2'b00};
  endfunction

  // xorshift32, advanced whenever a number is drawn.
  assign x0 = random_q ^ (random_q << 13);
  assign x1 = x0 ^ (x0 >> 17);

  assign saturated = cfg_load[16];
  assign hungry = enable && (saturated || backlog != 32'd0);
  assign start = hungry && !stopped_q && !sending_q;
  assign arrival = enable && {1'b0, random_q[15:0]} < cfg_load &&
      {16'd0, random_q[31:16]} * {16'd0, cfg_length} < 32'd65536;

  // All other ports: 1 .. PORTS-1 further on, by multiplying a random fraction.
  assign skew = PW'(1) + PW'((24'(random_q[23:8]) * 24'(PORTS - 1)) >> 16);
  assign target = cfg_self ? random_q[8+:PW] : SELF + skew;
  assign route = {2'b10, 6'(target) - 6'(SELF)};
  assign body = (left_q == 16'd1) ? crc_q : {1'b0, left_q[6:0] ^ salt_q};

  always_ff @(posedge clk) begin
    if (rst) begin
      tx <= IDLE;
      sending_q <= 1'b0;
      left_q <= 16'd0;
      salt_q <= 7'd0;
      crc_q <= 8'd0;
    end else if (stopped_q) tx <= IDLE;
    else if (sending_q) begin
      left_q <= left_q - 16'd1;
      if (left_q == 16'd0) begin
        tx <= GAP;
        sending_q <= 1'b0;
      end else begin
        tx <= {1'b1, body};
        crc_q <= crc8(crc_q ^ body);
      end
    end else if (hungry) begin
      left_q <= cfg_length - 16'd2;
      salt_q <= random_q[30:24];
      tx <= {1'b1, route};
      crc_q <= crc8(route);
      sending_q <= 1'b1;
    end else tx <= IDLE;
  end

  always_ff @(posedge clk) begin
    if (rst) random_q <= {cfg_seed[30:0], 1'b1} ^ (MIX * 32'(2 * ID + 2));  // never zero
    else if (!saturated || start) random_q <= x1 ^ (x1 << 5);
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      offered <= 32'd0;
      backlog <= 32'd0;
    end else if (!saturated) begin
      if (arrival) offered <= offered + 32'd1;
      if (arrival && !start) backlog <= backlog + 32'd1;
      else if (start && !arrival) backlog <= backlog - 32'd1;
    end
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      stopped_q <= 1'b0;
      sink_crc_q <= 8'd0;
      received_chars <= 32'd0;
      received_packets <= 32'd0;
      crc_errors <= 32'd0;
    end else if (rx != IDLE) begin
      if (rx[8]) begin
        sink_crc_q <= crc8(sink_crc_q ^ rx[7:0]);
        received_chars <= received_chars + 32'd1;
      end else if (rx == GAP) begin
        sink_crc_q <= 8'd0;
        received_chars <= received_chars + 32'd1;
        received_packets <= received_packets + 32'd1;
        if (sink_crc_q != 8'd0) crc_errors <= crc_errors + 32'd1;
      end else if (rx == STOP) stopped_q <= 1'b1;
      else if (rx == GO) stopped_q <= 1'b0;
    end
  end
endmodule
