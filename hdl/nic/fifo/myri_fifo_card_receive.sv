// Receive side of the FIFO card: words from the link into a buffer of the pool or into a cell slot.
//
// A packet is stored as it arrives; bytes beyond the buffer are dropped. At its tail `arrive` reports the packet.
// Header and payload of a cell are stored in their places; a cell of another size, or with a wrong HEC or CRC-8, is
// rejected (`refused`) and its slot reused. Without a free place the packet waits in the link, and STOP holds its
// sender.
// Timing: one word per clock when the memory grants; reported with the tail. Clock gating: state changes only with
// handshakes.
module myri_fifo_card_receive
  import myri_fifo_card_pkg::*;
  import myri_nic_engines_pkg::*;
  import myri_nic_trace_pkg::*;
  import myri_sram_pkg::*;
(
    input logic clk,  // NIC clock
    input logic rst,  // synchronous reset
    input logic cells,  // the card's form
    input logic in_valid,  // entry of myri_packet_rx
    output logic in_ready,  // accepted
    input recv_head_t in_head,  // its fields
    input logic [63:0] in_data,  // its byte lanes
    input logic place_valid,  // a place for a packet is free ...
    input logic [22:0] place,  // ... at this byte address
    output sram_request_t mem,  // memory: request, writes only
    input logic mem_gnt,  // grant
    output logic arrive,  // strobe: the place holds a packet
    output fifo_arrival_t arrived_as,  // with it: the packet
    output logic refused,  // strobe: a cell is discarded
    output recv_trace_t trace,  // events of this clock
    output logic in_flight,  // a packet is partly received
    output logic busy  // 1 = a further clock edge is needed
);
  localparam int WHOLE = SIZE_CELL + 1;  // bytes of a cell with the CRC character of the link
  localparam int INDEX = $clog2(SIZE_BUFFER / 8);  // bits of a word's index in a buffer

  logic tail, taken, store, fits, hec_bad_q, hec_wrong, too_long, known, next_known;
  logic [ 3:0] count;
  logic [63:0] lanes;
  logic [ 7:0] syndrome;
  logic [31:0] key;
  logic [12:0] length_q, total;  // bytes so far; saturates when the packet is too long
  logic [11:0] body;  // bytes of the packet that are stored
  logic [INDEX-1:0] index;
  logic [23:0] carried_q;  // last lanes of the word before
  logic [7:0] hec;

  assign {tail, count, syndrome} = in_head;
  assign lanes = in_data;
  assign index = length_q[INDEX+2:3];
  assign fits = cells ? length_q < 13'(SIZE_CELL) : length_q < 13'(SIZE_BUFFER);
  assign store = fits && count != 4'd0;
  assign mem.req = in_valid && place_valid && store;
  assign mem.write = 1'b1;
  assign mem.be = 8'hFF;
  assign mem.addr = place | {{(20 - INDEX) {1'b0}}, index, 3'd0};
  assign mem.wdata = !cells ? lanes : index == '0 ? {lanes[31:0], 32'd0} : {lanes[39:0], carried_q};
  assign in_ready = place_valid && (!store || mem_gnt);
  assign taken = in_valid && in_ready;

  assign total = length_q[12] ? length_q : length_q + {9'd0, count};
  assign too_long = total > 13'(SIZE_BUFFER) + 13'd1;
  assign body = too_long ? 12'(SIZE_BUFFER) : total == 13'd0 ? 12'd0 : 12'(total - 13'd1);
  assign hec_wrong = hec_bad_q || (length_q == 13'd0 && lanes[39:32] != hec);
  assign refused = taken && tail && cells && (total != 13'(WHOLE) || syndrome != 8'd0 || hec_wrong);
  assign arrive = taken && tail && !refused;
  assign arrived_as = {syndrome != 8'd0 || total < 13'd2, too_long, body};
  assign in_flight = length_q != 13'd0;
  assign busy = taken || mem.req;

  assign trace.rx_first = taken && next_known && !known;
  assign trace.rx_first_key = key;
  assign trace.rx_first_at = {1'b0, place};
  assign trace.rx_done = taken && tail;
  assign trace.rx_done_key = key;
  assign trace.rx_done_bytes = {19'd0, total};
  assign trace.rx_done_syndrome = syndrome;

  myri_fifo_card_hec u_hec (
      .header(lanes[31:0]),
      .hec(hec)
  );

  always_ff @(posedge clk) begin
    if (rst) begin
      {length_q, carried_q, hec_bad_q} <= '0;
    end else if (taken) begin
      length_q  <= tail ? 13'd0 : total;
      carried_q <= lanes[63:40];
      hec_bad_q <= !tail && hec_wrong;
    end
  end

  myri_packet_key u_key (
      .clk,
      .rst,
      .tail,
      .known,
      .next_known,
      .take(taken),
      .first(3'd0),
      .last(count),
      .data(lanes),
      .next_key(key)
  );
endmodule
