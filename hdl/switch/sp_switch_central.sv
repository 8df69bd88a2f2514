// Central queue of an SP switch: chunks of the waiting packets, shared by all outputs.
//
// The chunks of a packet form a list, and so do the packets for an output. One chunk per edge is written, from the
// inputs in turn, while fewer than cfg_chunks are held; one per edge is read, for the outputs in turn. An output reads
// one packet after the other in the order of entry; the packet may still be arriving. Once all of its stored chunks
// have left, further chunks bypass the memory, straight from the input to the output. The packet that an output is
// sending therefore needs no room: a full queue stops inputs, but never an output, and adds no cyclic wait to those of
// the routes. Without room an input's first chunk waits for its output to be idle.
module sp_switch_central
  import sp_chunk_pkg::*;
#(
    parameter int PORTS      = 8,  // ports of the switch: 4, 8 or 16
    parameter int QUEUE_LOG2 = 11  // memory entries = 2**QUEUE_LOG2 chunks of 8 bytes
) (
    input logic clk,  // character clock
    input logic rst,  // synchronous reset
    input logic [15:0] cfg_chunks,  // chunks that it may hold
    input logic [PORTS-1:0] c_valid,  // per input: a chunk is complete
    output logic [PORTS-1:0] c_take,  // per input: accepted at the coming edge
    input logic [SP_CHUNK_BITS*PORTS-1:0] c_chunk,  // per input: sp_chunk_t
    input logic [4*PORTS-1:0] c_port,  // per input: output of its packet
    input logic [PORTS-1:0] n_ready,  // per output: has room for a chunk
    output logic [PORTS-1:0] n_load,  // per output: a chunk arrives at the coming edge
    output logic [SP_CHUNK_BITS*PORTS-1:0] n_chunk,  // per output: that chunk, sp_chunk_t
    output logic [PORTS-1:0] occupied,  // per output: a packet is stored for it
    output logic [PORTS-1:0] attached,  // per input: its output is busy with its packet
    output logic [   PORTS-1:0] tr_placed,   // per input, strobe: added to the list of its output at the last edge
    output logic [15:0] used,  // chunks held
    output logic busy  // 1 = a further clock edge is needed
);
  localparam int W = QUEUE_LOG2;
  localparam int PW = $clog2(PORTS);

  logic [PORTS-1:0][SP_CHUNK_BITS-1:0] chunks;  // per input: the complete chunk
  logic [PORTS-1:0] lasts;  // per input: that chunk is the last of its packet
  logic [PORTS-1:0][PW-1:0] ports;  // per input: output of its packet
  logic [W-1:0] place_freed;  // the oldest of the freed places
  logic [W:0] fresh_q;  // places that were never used begin here
  logic [W-1:0] free_first_q;  // of the ring of freed places
  logic [W-1:0] free_end_q;
  logic [W-1:0] place;  // where the next chunk is written
  logic room;
  logic recycled;  // the next place is one that was freed

  // Per input: the arriving packet.
  logic [PORTS-1:0] queued_q;  // the packet is in the list of its output
  logic [PORTS-1:0][W-1:0] first_q;  // its first chunk, if queued
  logic [PORTS-1:0][W-1:0] tail_q;  // the chunk of it written last
  logic [PORTS-1:0] none;  // no chunk of the packet is held
  logic [PORTS-1:0] passes;  // a chunk of the packet is passed directly to its output
  logic [PORTS-1:0] alone;  // its output has read, or reads now, all held chunks of the packet

  // Per output: the packet being read, and the packets after it.
  logic [PORTS-1:0] reading_q;
  logic [PORTS-1:0] open_q;  // more of the packet follows, from input `feeder`
  logic [PORTS-1:0][PW-1:0] feeder_q;
  logic [PORTS-1:0][W-1:0] head_q;  // its chunk to be read next
  logic [PORTS-1:0] listed_q;  // further packets follow in the list
  logic [PORTS-1:0][W-1:0] list_first_q;
  logic [PORTS-1:0][W-1:0] list_last_q;

  assign chunks = c_chunk;

  // ---------------------------------------------------------------- writing
  logic [PORTS-1:0] write_ask, write;
  logic               writes;
  logic      [PW-1:0] writer;
  sp_chunk_t          written;
  logic      [PW-1:0] write_port;
  logic               enters;  // the first chunk of a packet
  logic               refills;  // the first after its output has read all others
  logic               links;  // any other

  assign room = used < cfg_chunks;
  assign write_ask = room ? c_valid & ~passes : '0;
  assign writes = write_ask != '0;
  assign recycled = 16'(fresh_q) >= cfg_chunks;
  assign place = recycled ? place_freed : fresh_q[W-1:0];
  assign written = chunks[writer];
  assign write_port = ports[writer];
  assign enters = writes && !queued_q[writer] && !attached[writer];
  assign refills = writes && attached[writer] && alone[writer];
  assign links = writes && !enters && !refills;
  myri_rr_arbiter #(
      .N(PORTS)
  ) u_write (
      .clk(clk),
      .rst(rst),
      .request(write_ask),
      .take(writes),
      .grant(write)
  );
  myri_index #(
      .N(PORTS)
  ) u_writer (
      .one_hot(write),
      .index  (writer)
  );

  // ---------------------------------------------------------------- reading
  logic [PORTS-1:0] read_ask, read, pass, next_ask, next_packet, attach_ask, attach;
  logic reads, starts, attaches;
  logic [PW-1:0] reader, starter, newcomer, new_port;
  logic [W-1:0] read_place;
  sp_chunk_t read_chunk;
  logic [W-1:0] read_next, start_place, start_behind;
  logic [PORTS-1:0] coming;  // per input: its queued packet is the one that starts
  logic [PORTS-1:0] coming_open;  // and its last chunk is not taken at the coming edge
  logic [PW-1:0] coming_from;
  logic [PORTS-1:0] idle;  // per output: no chunk to read

  assign idle = ~(reading_q | listed_q);
  assign next_ask = ~reading_q & listed_q;
  assign starts = next_ask != '0;
  assign reads = read_ask != '0;
  assign attaches = attach_ask != '0;
  assign read_place = head_q[reader];
  assign start_place = list_first_q[starter];
  assign new_port = ports[newcomer];
  myri_rr_arbiter #(
      .N(PORTS)
  ) u_read (
      .clk(clk),
      .rst(rst),
      .request(read_ask),
      .take(reads),
      .grant(read)
  );
  myri_rr_arbiter #(
      .N(PORTS)
  ) u_start (
      .clk(clk),
      .rst(rst),
      .request(next_ask),
      .take(starts),
      .grant(next_packet)
  );
  myri_rr_arbiter #(
      .N(PORTS)
  ) u_attach (
      .clk(clk),
      .rst(rst),
      .request(attach_ask),
      .take(attaches),
      .grant(attach)
  );
  myri_index #(
      .N(PORTS)
  ) u_reader (
      .one_hot(read),
      .index  (reader)
  );
  myri_index #(
      .N(PORTS)
  ) u_starter (
      .one_hot(next_packet),
      .index  (starter)
  );
  myri_index #(
      .N(PORTS)
  ) u_newcomer (
      .one_hot(attach),
      .index  (newcomer)
  );
  myri_index #(
      .N(PORTS)
  ) u_coming_from (
      .one_hot(coming_open),
      .index  (coming_from)
  );

  assign busy = writes || reads || starts || attaches || (pass | tr_placed) != '0;

  always_ff @(posedge clk) begin
    if (rst) tr_placed <= '0;
    else tr_placed <= attach | (enters ? write : '0);
  end

  sp_switch_heads #(
      .PORTS(PORTS),
      .QUEUE_LOG2(W)
  ) u_heads (
      .clk(clk),
      .rst(rst),
      .write(writes),
      .place(place),
      .chunk(written),
      .link(links),
      .tail(tail_q[writer]),
      .refill(refills),
      .enter(enters),
      .port(write_port),
      .head(head_q[write_port]),
      .listed(listed_q[write_port]),
      .list_first(list_first_q[write_port]),
      .list_last(list_last_q[write_port]),
      .read(read),
      .reader(reader),
      .start(next_packet),
      .starter(starter),
      .start_place(start_place),
      .read_chunk(read_chunk),
      .read_next(read_next),
      .start_behind(start_behind)
  );
  myri_ram #(
      .WIDTH(W),
      .DEPTH_LOG2(W)
  ) u_free (
      .clk(clk),
      .write(reads),
      .w_addr(free_end_q),
      .w_data(read_place),
      .read(reads || writes),
      .r_addr(free_first_q + W'(writes && recycled)),
      .r_data(place_freed)
  );

  always_ff @(posedge clk) begin
    if (rst) begin
      fresh_q <= '0;
      free_first_q <= '0;
      free_end_q <= '0;
      used <= 16'd0;
    end else begin
      if (writes && !recycled) fresh_q <= fresh_q + 1'b1;
      if (writes && recycled) free_first_q <= free_first_q + 1'b1;
      if (reads) free_end_q <= free_end_q + 1'b1;
      if (writes != reads) used <= writes ? used + 16'd1 : used - 16'd1;
    end
  end

  for (genvar i = 0; i < PORTS; i++) begin : gen_input
    logic [W:0] stored_q;  // stored chunks of the packet being received
    logic [PW-1:0] port;
    logic removes;  // one of them is read
    logic ends;  // its last chunk is taken
    assign port = PW'(c_port[4*i+:4]);
    assign ports[i] = port;
    assign lasts[i] = c_chunk[SP_CHUNK_BITS*i+SP_CHUNK_LAST];
    assign removes = reads && open_q[reader] && feeder_q[reader] == PW'(i);
    assign none[i] = stored_q == '0;
    assign alone[i] = none[i] || (stored_q == (W + 1)'(1) && removes);
    assign passes[i] = attached[i] && pass[port];
    assign coming[i] = starts && queued_q[i] && first_q[i] == start_place;
    assign coming_open[i] = coming[i] && !ends;
    assign attach_ask[i] = !room && c_valid[i] && !queued_q[i] && !attached[i] && idle[port];
    assign c_take[i] = write[i] || passes[i];
    assign ends = c_take[i] && lasts[i];

    always_ff @(posedge clk) begin
      if (rst) begin
        stored_q <= '0;
        queued_q[i] <= 1'b0;
        attached[i] <= 1'b0;
        first_q[i] <= '0;
        tail_q[i] <= '0;
      end else begin
        if (write[i]) begin
          tail_q[i] <= place;
          if (enters) first_q[i] <= place;
        end
        if (ends) begin
          stored_q <= '0;
          queued_q[i] <= 1'b0;
          attached[i] <= 1'b0;
        end else begin
          if (write[i] != removes) stored_q <= write[i] ? stored_q + 1'b1 : stored_q - 1'b1;
          if (coming[i]) queued_q[i] <= 1'b0;
          else if (write[i] && enters) queued_q[i] <= 1'b1;
          if (coming[i] || attach[i]) attached[i] <= 1'b1;
        end
      end
    end
  end

  for (genvar o = 0; o < PORTS; o++) begin : gen_output
    logic [PW-1:0] source;
    sp_chunk_t next;  // chunk that the output reads
    assign source = feeder_q[o];
    assign read_ask[o] = reading_q[o] && n_ready[o] && !(open_q[o] && none[source]);
    assign pass[o] = reading_q[o] && n_ready[o] && open_q[o] && none[source] && c_valid[source];
    assign n_load[o] = read[o] || pass[o];
    assign next = pass[o] ? chunks[source] : read_chunk;
    assign n_chunk[SP_CHUNK_BITS*o+:SP_CHUNK_BITS] = next;
    assign occupied[o] = reading_q[o] || listed_q[o];
    always_ff @(posedge clk) begin
      if (rst) begin
        reading_q[o] <= 1'b0;
        open_q[o] <= 1'b0;
        listed_q[o] <= 1'b0;
        feeder_q[o] <= '0;
        head_q[o] <= '0;
        list_first_q[o] <= '0;
        list_last_q[o] <= '0;
      end else begin
        // The packet being read.
        if (next_packet[o]) begin
          reading_q[o] <= 1'b1;
          open_q[o] <= coming_open != '0;
          feeder_q[o] <= coming_from;
          head_q[o] <= start_place;
        end else if (attaches && new_port == PW'(o)) begin
          reading_q[o] <= 1'b1;
          open_q[o] <= 1'b1;
          feeder_q[o] <= newcomer;
        end else begin
          if (n_load[o] && next.last) reading_q[o] <= 1'b0;
          if (refills && write_port == PW'(o)) head_q[o] <= place;
          else if (read[o]) head_q[o] <= read_next;
          if (open_q[o] && c_take[source] && lasts[source]) open_q[o] <= 1'b0;
        end
        // The packets after it.
        if (enters && write_port == PW'(o)) begin
          listed_q[o] <= 1'b1;
          list_last_q[o] <= place;
          if (!listed_q[o] || (next_packet[o] && list_first_q[o] == list_last_q[o]))
            list_first_q[o] <= place;
          else if (next_packet[o]) list_first_q[o] <= start_behind;
        end else if (next_packet[o]) begin
          if (list_first_q[o] == list_last_q[o]) listed_q[o] <= 1'b0;
          else list_first_q[o] <= start_behind;
        end
      end
    end
  end
endmodule
