// Packet key for the trace: the first four bytes after the route, big-endian.
//
// Observes the words of a packet, in which lanes first .. last-1 are bytes of the packet. Route bytes have their top
// bit set and are skipped. If the packet ends early, the missing bytes are zero.
// Timing: `next_key` and `next_known` include the current word, `known` is the state before it. Clock gating: state
// changes only with `take`.
module myri_packet_key (
    input logic clk,  // clock of the words
    input logic rst,  // synchronous reset
    input logic take,  // the current word is consumed at the coming edge
    input logic tail,  // with take: the word ends the packet
    input logic [2:0] first,  // first lane that is a byte of the packet
    input logic [3:0] last,  // lane after the last one, 0..8
    input logic [63:0] data,  // the word, lane i = bits 8i+7:8i
    output logic known,  // the key was complete before this word
    output logic next_known,  // the key is complete with this word, or the packet ends with it
    output logic [31:0] next_key  // the key with this word
);
  logic [31:0] key_q;
  logic [ 2:0] count_q;  // bytes of the key found, 0..4
  logic [ 7:0] lanes;  // lanes that belong to the packet
  logic [ 7:0] tops;  // top bit of each lane
  logic [ 7:0] usable;  // lanes that may be the first usable one
  logic [ 2:0] from;  // first usable lane
  logic [31:0] moved;  // four lanes of data, lane `from` first
  logic [ 3:0] have;  // number of usable lanes
  logic [ 2:0] room;
  logic [ 2:0] used;
  logic [31:0] bytes;  // the used bytes, big-endian, left-aligned
  logic        any;

  assign lanes = (8'hFF << first) & ~(8'hFF << last);
  assign tops = {data[63], data[55], data[47], data[39], data[31], data[23], data[15], data[7]};
  assign usable = (count_q == 3'd0) ? lanes & ~tops : lanes;
  assign any = usable != 8'd0;

  assign from   = usable[0] ? 3'd0 : usable[1] ? 3'd1 : usable[2] ? 3'd2 : usable[3] ? 3'd3 :
      usable[4] ? 3'd4 : usable[5] ? 3'd5 : usable[6] ? 3'd6 : 3'd7;
  assign moved = 32'(data >> {from, 3'b000});
  assign have = last - {1'b0, from};
  assign room = 3'd4 - count_q;
  assign used = !any ? 3'd0 : (have < {1'b0, room}) ? have[2:0] : room;
  assign bytes = {moved[7:0], moved[15:8], moved[23:16], moved[31:24]} &
      ~(32'hFFFF_FFFF >> {used, 3'b000});
  assign known = count_q == 3'd4;
  assign next_key = known ? key_q : key_q | (bytes >> {count_q, 3'b000});
  assign next_known = known || count_q + used == 3'd4 || tail;

  always_ff @(posedge clk) begin
    if (rst || (take && tail)) begin
      key_q   <= 32'd0;
      count_q <= 3'd0;
    end else if (take && !known) begin
      key_q   <= next_key;
      count_q <= count_q + used;
    end
  end
endmodule
