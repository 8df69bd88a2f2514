// Command queue of the SP adapter, and the right engine from the receive buffer to the Recv/Cmd FIFO.
//
// Insertions of the processor wait here in order: commands, data, and the release of a packet. Commands and data enter
// the FIFO unchanged. After a STORE with PACKET the right engine inserts the packet's next user bytes, packed from lane
// 0, one word per beat of the internal bus, before the next insertion. The words after a command in the FIFO are
// therefore its own, while the left engine already removes them at the other end. An insertion into a full queue is
// lost and flagged by `overflow`; a command that exceeds its packet by `misuse`.
// Timing: an insertion passes in two clocks; user data one word per clock while the bus is granted.
module sp_commands
  import sp_trace_pkg::*;
  import sp_adapter_pkg::*;
(
    input logic clk,  // NIC clock
    input logic rst,  // synchronous reset
    input logic w_command,  // strobe: insert a command
    input logic w_words,  // strobe: insert two words of data
    input logic w_next,  // strobe: release the packet at the processor's head
    input logic [63:0] w_data,  // {first word, second word} of both
    output logic room,  // the queue has room for SIZE_QUEUE_ROOM more
    output logic overflow,  // strobe: an insertion was lost
    output logic misuse,  // strobe: a command for a missing packet or beyond a packet's end
    input logic arrived,  // receive buffer: a packet is at the processor's head
    output logic look_next,  // advance to the next packet
    input logic move_valid,  // a packet is ready to be moved
    output logic [7:0] move_next,  // word of its user data after the coming edge
    input logic [63:0] move_word,  // the word after the edge, byte lanes
    input logic [11:0] move_bytes,  // its user bytes
    output logic move_release,  // strobe: free its slot
    output logic bus_req,  // internal bus: request
    input logic bus_gnt,  // grant
    output logic out_valid,  // a word for the Recv/Cmd FIFO
    input logic out_ready,  // accepted
    output logic [63:0] out_data,  // a command, or lanes
    input logic [31:0] move_key,  // its packet key
    output move_trace_t trace,  // events of this clock
    output logic idle,  // no command waits
    output logic busy  // 1 = a further clock edge is needed
);
  localparam int LOG2 = $clog2(SIZE_QUEUE);

  logic q_valid, q_ready, q_room, q_busy, insert;
  sp_insertion_t q_in, queued;
  sp_command_t command;  // the queued word, as a command
  logic [LOG2:0] level;
  logic moving_q;  // the right engine moves user bytes
  logic [11:0] at_q;  // next user byte
  logic [31:0] stores_q;  // STOREs so far
  logic fits, starts, moved, passes, store, unused_ok;
  logic [31:0] bytes, number;  // user bytes that are moved, and number of their STORE, from 0
  logic a_want, a_skip, a_valid, a_active, a_busy, a_ready;
  logic [63:0] a_data;
  logic [7:0] word_at_q, word_at_d;  // next word for the aligner
  logic [15:0] bytes_now_q;

  // Insertions.
  assign insert = w_command || w_words || w_next;
  assign q_in.kind = w_next ? INSERT_NEXT : w_command ? INSERT_COMMAND : INSERT_DATA;
  assign q_in.data = w_command ? w_data : lanes(w_data);
  assign overflow = insert && !q_room;
  assign look_next = w_next && arrived && q_room;
  assign room = level <= (LOG2 + 1)'(SIZE_QUEUE - SIZE_QUEUE_ROOM);

  myri_fifo #(
      .WIDTH($bits(sp_insertion_t)),
      .DEPTH_LOG2(LOG2)
  ) u_queue (
      .clk(clk),
      .rst(rst),
      .w_valid(insert && (!w_next || arrived)),
      .w_ready(q_room),
      .w_data(q_in),
      .r_valid(q_valid),
      .r_ready(q_ready),
      .r_data(queued),
      .level(level),
      .busy(q_busy)
  );

  // Output to the FIFO.
  assign command = queued.data;
  assign store = queued.kind == INSERT_COMMAND && !command.fetch && !command.alarm;
  assign fits = move_valid && {1'b0, command.bytes} + {5'd0, at_q} <= {5'd0, move_bytes};
  assign passes = q_valid && !moving_q && queued.kind != INSERT_NEXT;
  assign q_ready = !moving_q && (queued.kind == INSERT_NEXT || out_ready);
  assign starts = passes && out_ready && store && command.packet && command.bytes != 16'd0;
  assign misuse = (starts && !fits) || (w_next && !arrived);
  assign move_release = q_valid && q_ready && queued.kind == INSERT_NEXT;
  assign move_next = word_at_d;
  assign bus_req = moving_q && a_valid && out_ready;
  assign a_ready = bus_gnt;
  assign out_valid = moving_q ? bus_gnt : passes;
  assign out_data = moving_q ? a_data : queued.data;
  assign moved = moving_q && !a_active;
  assign bytes = {16'd0, starts ? command.bytes : bytes_now_q};
  assign number = stores_q - (starts ? 32'd0 : 32'd1);
  assign trace = {starts, moved, move_key, bytes, number};
  assign unused_ok = ^{command.read, command.reserved, command.address};
  assign idle = !q_valid && !moving_q;
  assign busy = insert || q_busy || a_busy || moved;

  myri_byte_aligner u_aligner (
      .clk(clk),
      .rst(rst),
      .start(starts),
      .src(at_q[2:0]),
      .dst(3'd0),
      .bytes({16'd0, command.bytes}),
      .in_valid(moving_q),
      .in_want(a_want),
      .in_skip(a_skip),
      .in_data(move_word),
      .in_be(),
      .out_valid(a_valid),
      .out_ready(a_ready),
      .out_data(a_data),
      .out_be(),
      .out_bytes(),
      .active(a_active),
      .busy(a_busy)
  );

  always_comb begin
    if (starts) word_at_d = at_q[10:3];
    else if (moving_q && a_want && (a_skip || a_ready)) word_at_d = word_at_q + 8'd1;
    else word_at_d = word_at_q;
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      {moving_q, at_q, stores_q, word_at_q, bytes_now_q} <= '0;
    end else begin
      if (starts) begin
        moving_q <= 1'b1;
        at_q <= at_q + command.bytes[11:0];
        bytes_now_q <= command.bytes;
      end else if (moved) begin
        moving_q <= 1'b0;
      end
      word_at_q <= word_at_d;
      if (passes && out_ready && store) stores_q <= stores_q + 32'd1;
      if (move_release) at_q <= 12'd0;
    end
  end

  // Two big-endian words as lanes.
  function automatic logic [63:0] lanes(input logic [63:0] pair);
    return {
      pair[7:0],
      pair[15:8],
      pair[23:16],
      pair[31:24],
      pair[39:32],
      pair[47:40],
      pair[55:48],
      pair[63:56]
    };
  endfunction
endmodule
