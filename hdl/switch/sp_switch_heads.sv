// Memories of the SP switch's central queue: chunks, the next chunk of each packet, and the next packet of each list.
//
// The memories are block RAM, whose words are registered: each output's head, the chunk that it reads next with the place
// of the chunk after it, is read an edge ahead, and so is the second packet of its list. Several heads may change at one
// edge: one output reads a chunk, another begins a packet, and a chunk is written for a third. So there are two copies
// of the chunks, one for each of the first two. A word stays in the register of its memory until that is needed for
// another output, and is then kept for its own.
// Timing: the outputs belong to the clock of `reader` and `starter`, and include every write of earlier clocks. State
// changes only with `write`, `read` and `start`.
module sp_switch_heads
  import sp_chunk_pkg::*;
#(
    parameter int PORTS      = 8,  // ports of the switch
    parameter int QUEUE_LOG2 = 11  // places = 2**QUEUE_LOG2
) (
    input logic clk,  // character clock
    input logic rst,  // synchronous reset
    input logic write,  // strobe: a chunk is written
    input logic [QUEUE_LOG2-1:0] place,  // its place
    input sp_chunk_t chunk,  // the chunk
    input logic link,  // with write: it follows the chunk in `tail`
    input logic [QUEUE_LOG2-1:0] tail,  // place of the last chunk of its packet
    input logic refill,  // with write: it is the new head of its output
    input logic enter,  // with write: it is the first of a packet
    input logic [$clog2(PORTS)-1:0] port,  // its output
    input logic [QUEUE_LOG2-1:0] head,  // head of that output
    input logic listed,  // that output has packets in its list
    input logic [QUEUE_LOG2-1:0] list_first,  // first chunk of the first packet of that list
    input logic [QUEUE_LOG2-1:0] list_last,  // of the last packet of that list
    input logic [PORTS-1:0] read,  // one-hot: the output reads its head
    input logic [$clog2(PORTS)-1:0] reader,  // its number
    input logic [PORTS-1:0] start,  // one-hot: the output begins with the first packet of its list
    input logic [$clog2(PORTS)-1:0] starter,  // its number
    input logic [QUEUE_LOG2-1:0] start_place,  // first chunk of that packet
    output sp_chunk_t read_chunk,  // head of `reader`
    output logic [QUEUE_LOG2-1:0] read_next,  // place of the chunk after it; meaningless if there is none
    output logic [QUEUE_LOG2-1:0] start_behind  // first chunk of the packet after that of `starter`; likewise
);
  localparam int W = QUEUE_LOG2;

  localparam int HEAD = W + SP_CHUNK_BITS;  // {place of the next chunk, chunk}

  logic reads, starts, linked;
  logic [HEAD-1:0] after_read;  // head of the output that read a chunk last
  logic [HEAD-1:0] after_start;  // of the output that began a packet last
  logic [PORTS-1:0][HEAD-1:0] kept_q;  // of the other outputs
  logic [PORTS-1:0]
      at_read_q, at_start_q;  // one-hot: outputs whose head is in after_read, after_start
  logic [HEAD-1:0] read_head;  // of `reader`
  logic [PORTS-1:0][SP_CHUNK_BITS-1:0] kept_chunks;  // chunks of kept_q
  logic [SP_CHUNK_BITS-1:0] port_chunk;  // chunk at the head of `port`
  logic [W-1:0] behind;  // second packet of the list of the output that began a packet last
  logic [PORTS-1:0][W-1:0] behind_q;  // of the other outputs
  logic [PORTS-1:0] at_behind_q;  // one-hot: the output whose second packet is in `behind`

  assign reads = read != '0;
  assign starts = start != '0;
  assign linked = link && tail == head;
  assign read_head = at_read_q[reader] ? after_read : at_start_q[reader] ? after_start : kept_q[reader];
  assign port_chunk = at_read_q[port] ? after_read[SP_CHUNK_BITS-1:0] :
      at_start_q[port] ? after_start[SP_CHUNK_BITS-1:0] : kept_chunks[port];
  assign {read_next, read_chunk} = read_head;
  assign start_behind = at_behind_q[starter] ? behind : behind_q[starter];

  myri_ram #(
      .WIDTH(SP_CHUNK_BITS),
      .DEPTH_LOG2(W)
  ) u_read_chunk (
      .clk(clk),
      .write(write),
      .w_addr(place),
      .w_data(chunk),
      .read(reads),
      .r_addr(read_next),
      .r_data(after_read[SP_CHUNK_BITS-1:0])
  );
  myri_ram #(
      .WIDTH(W),
      .DEPTH_LOG2(W)
  ) u_read_next (
      .clk(clk),
      .write(link),
      .w_addr(tail),
      .w_data(place),
      .read(reads),
      .r_addr(read_next),
      .r_data(after_read[HEAD-1:SP_CHUNK_BITS])
  );
  myri_ram #(
      .WIDTH(SP_CHUNK_BITS),
      .DEPTH_LOG2(W)
  ) u_start_chunk (
      .clk(clk),
      .write(write),
      .w_addr(place),
      .w_data(chunk),
      .read(starts),
      .r_addr(start_place),
      .r_data(after_start[SP_CHUNK_BITS-1:0])
  );
  myri_ram #(
      .WIDTH(W),
      .DEPTH_LOG2(W)
  ) u_start_next (
      .clk(clk),
      .write(link),
      .w_addr(tail),
      .w_data(place),
      .read(starts),
      .r_addr(start_place),
      .r_data(after_start[HEAD-1:SP_CHUNK_BITS])
  );
  myri_ram #(
      .WIDTH(W),
      .DEPTH_LOG2(W)
  ) u_behind (
      .clk(clk),
      .write(enter && listed),
      .w_addr(list_last),
      .w_data(place),
      .read(starts),
      .r_addr(start_behind),
      .r_data(behind)
  );

  for (genvar o = 0; o < PORTS; o++) begin : gen_output
    logic here;  // the chunk is written for this output
    assign kept_chunks[o] = kept_q[o][SP_CHUNK_BITS-1:0];
    assign here = port == $clog2(PORTS)'(o);

    always_ff @(posedge clk) begin
      if (rst) {at_read_q[o], at_start_q[o]} <= 2'b00;
      else if (start[o]) {at_read_q[o], at_start_q[o]} <= 2'b01;
      else if (refill && here) {at_read_q[o], at_start_q[o]} <= 2'b00;
      else if (read[o]) {at_read_q[o], at_start_q[o]} <= 2'b10;
      else if (linked && here) {at_read_q[o], at_start_q[o]} <= 2'b00;
      else begin
        if (reads) at_read_q[o] <= 1'b0;
        if (starts) at_start_q[o] <= 1'b0;
      end
    end
    always_ff @(posedge clk) begin
      if (refill && here) kept_q[o] <= {place, chunk};
      else if (linked && here) kept_q[o] <= {place, port_chunk};
      else if (reads && at_read_q[o]) kept_q[o] <= after_read;
      else if (starts && at_start_q[o]) kept_q[o] <= after_start;
    end

    always_ff @(posedge clk) begin
      if (rst) at_behind_q[o] <= 1'b0;
      else if (start[o]) at_behind_q[o] <= 1'b1;
      else if (enter && here && list_first == list_last) at_behind_q[o] <= 1'b0;
      else if (starts) at_behind_q[o] <= 1'b0;
    end
    always_ff @(posedge clk) begin
      if (enter && here && list_first == list_last) behind_q[o] <= place;
      else if (starts && at_behind_q[o]) behind_q[o] <= behind;
    end
  end
endmodule
