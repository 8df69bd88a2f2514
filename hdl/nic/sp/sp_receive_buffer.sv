// Receive buffer of the link interface: whole packets, oldest first.
//
// Words of a packet fill a slot. With the tail the packet is announced, with its size and the validity of CRC-8 and
// size: the size must be that in its header (a lost GAP joins two packets, whose CRC-8 is good). Two readers use the
// buffer: the processor the packet at its head (`look_q`), the right engine the packet whose data it moves (`move_q`),
// which is the same or an older one. `next` advances the processor; `release` frees the right engine's packet. When
// every slot is in use the link waits. Words beyond the maximum packet size are dropped, and the packet has a bad size.
// Timing: one word per clock; announced one clock after the tail has arrived. Clock gating: state changes only with
// handshakes.
module sp_receive_buffer
  import myri_nic_engines_pkg::*;
  import myri_nic_trace_pkg::*;
  import sp_adapter_pkg::*;
#(
    parameter int SLOTS_LOG2 = 1  // packets = 2**SLOTS_LOG2
) (
    input logic clk,  // NIC clock
    input logic rst,  // synchronous reset
    input logic in_valid,  // entry of myri_packet_rx
    output logic in_ready,  // accepted
    input recv_head_t in_head,  // its fields
    input logic [63:0] in_data,  // its byte lanes
    output logic arrived,  // a packet is at the processor's head
    input logic [2:0] look_index,  // word of it
    output logic [31:0] look_word,  // big-endian, the same clock
    output sp_recv_status_t look_status,  // RECV_STATUS
    input logic look_next,  // strobe: the processor advances to the next packet
    output logic move_valid,  // a packet is ready for the right engine
    input logic [7:0] move_next,  // word of its user data after the coming edge
    output logic [63:0] move_word,  // that word after the edge, lanes
    output logic [11:0] move_bytes,  // its user bytes
    output logic [31:0] move_key,  // its key
    input logic move_release,  // strobe: free its slot
    output recv_trace_t trace,  // events of this clock
    output logic in_flight,  // a packet is partly received
    output logic busy  // 1 = a further clock edge is needed
);
  localparam int SLOTS = 1 << SLOTS_LOG2;
  localparam int INDEX = 9;  // bits of a word's index in a slot
  localparam int HEAD = 2;  // bits of the index of a word that the processor may read
  localparam int MOST = SIZE_HEADERS + SIZE_USER + 1;  // bytes of a packet with its CRC character
  localparam logic [INDEX-1:0] FIRST_USER = INDEX'(SIZE_HEADERS / 8);

  logic [63:0] heads[0:(SLOTS<<HEAD)-1];  // the words of a packet that the processor may read
  logic [SLOTS-1:0][11:0] sizes_q;  // user bytes
  logic [SLOTS-1:0][1:0] bad_q;  // {size, CRC}
  logic [SLOTS-1:0][31:0] keys_q;
  logic [SLOTS_LOG2:0] fill_q, look_q, move_q;  // packets so far: announced, seen, released
  logic [INDEX-1:0] index_q;
  logic [15:0] length_q;  // bytes of the packet being received
  logic [31:0] key_now_q;
  logic [15:0] told_q;  // payload bytes given in the header
  logic wrong;
  logic key_comes, tail, taken, space, too_long;
  logic [ 3:0] count;
  logic [15:0] total;
  logic [ 7:0] syndrome;
  logic [31:0] key;
  logic [11:0] user;
  logic [63:0] lanes, looked;
  logic [31:0] pair;
  logic [SLOTS_LOG2-1:0] fill_slot, look_slot, move_slot, move_slot_next;
  logic stores;  // a word is written

  assign {tail, count, syndrome} = in_head;
  assign lanes = in_data;
  assign fill_slot = fill_q[SLOTS_LOG2-1:0];
  assign look_slot = look_q[SLOTS_LOG2-1:0];
  assign move_slot = move_q[SLOTS_LOG2-1:0];
  assign space = fill_q - move_q != {1'b1, {SLOTS_LOG2{1'b0}}};
  assign in_ready = space;
  assign taken = in_valid && space;
  assign stores = taken && !too_long;
  assign total = length_q + {12'd0, count};
  assign too_long = total > 16'(MOST);
  assign user = too_long || total <= 16'(SIZE_HEADERS) ? 12'd0 : total[11:0] - 12'(SIZE_HEADERS + 1);

  assign wrong = too_long || total <= 16'(SIZE_HEADERS) || total != told_q + 16'd17;

  assign arrived = fill_q != look_q;
  assign looked = heads[{look_slot, look_index[2:1]}];
  assign pair = look_index[0] ? looked[63:32] : looked[31:0];
  assign look_word = {pair[7:0], pair[15:8], pair[23:16], pair[31:24]};
  assign look_status = {14'd0, bad_q[look_slot], 4'd0, sizes_q[look_slot]};
  assign move_valid = fill_q != move_q;
  assign move_slot_next = move_slot + SLOTS_LOG2'(move_release);
  assign move_bytes = sizes_q[move_slot];
  assign move_key = keys_q[move_slot];

  assign key_comes = length_q == 16'd16 && !tail;
  assign key = key_comes ? {lanes[7:0], lanes[15:8], lanes[23:16], lanes[31:24]} : key_now_q;
  assign trace = {taken && key_comes, key, 24'd0, taken && tail, key, {16'd0, total}, syndrome};
  assign in_flight = length_q != 16'd0;
  assign busy = taken || look_next || move_release;

  always_ff @(posedge clk) begin
    if (rst) begin
      {fill_q, look_q, move_q, index_q, length_q, key_now_q, told_q} <= '0;
    end else begin
      if (taken) begin
        length_q <= tail ? 16'd0 : too_long ? 16'(MOST + 1) : total;
        index_q  <= tail ? '0 : too_long ? index_q : index_q + 1'b1;
        if (length_q == 16'd8) told_q <= {lanes[23:16], lanes[31:24]};
        if (tail) fill_q <= fill_q + 1'b1;
        if (tail || length_q == 16'd0) key_now_q <= 32'd0;
        else key_now_q <= key;
      end
      if (look_next) look_q <= look_q + 1'b1;
      if (move_release) move_q <= move_q + 1'b1;
    end
  end

  // The right engine's word is read an edge ahead.
  myri_ram #(
      .WIDTH(64),
      .DEPTH_LOG2(SLOTS_LOG2 + INDEX)
  ) u_words (
      .clk(clk),
      .write(stores),
      .w_addr({fill_slot, index_q}),
      .w_data(lanes),
      .read(1'b1),
      .r_addr({move_slot_next, {1'b0, move_next} + FIRST_USER}),
      .r_data(move_word)
  );

  always_ff @(posedge clk) begin
    if (stores && index_q[INDEX-1:HEAD] == '0) heads[{fill_slot, index_q[HEAD-1:0]}] <= lanes;
    if (taken && tail) begin
      sizes_q[fill_slot] <= user;
      bad_q[fill_slot]   <= {wrong, syndrome != 8'd0};
      keys_q[fill_slot]  <= key_now_q;
    end
  end
endmodule
