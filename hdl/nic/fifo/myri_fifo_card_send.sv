// Send side of the FIFO card: sends a buffer or a cell from memory to the link.
//
// Buffer: the descriptor gives the position of the packet in the buffer. A descriptor that is not READY, or invalid, is
// skipped and flagged by `refused`; after sending, its state becomes SENT. Cell: route bytes of the circuit, header,
// HEC, payload. `done` releases the head of the queue of jobs.
// Timing: three clocks before the first word (cells: route bytes after three, then the header), then one word per
// clock, each when the memory grants; the link side appends CRC-8 and GAP.
// Clock gating: `busy` with every step; a word that the link does not accept waits without clock edges.
module myri_fifo_card_send
  import myri_fifo_card_pkg::*;
  import myri_nic_engines_pkg::*;
  import myri_nic_trace_pkg::*;
  import myri_sram_pkg::*;
(
    input logic clk,  // NIC clock
    input logic rst,  // synchronous reset
    input logic [47:0] cycle,  // index of the coming edge
    input logic cells,  // the card's form
    input logic job_valid,  // a job is pending:
    input logic [6:0] job_number,  // this buffer,
    input logic [22:0] job_slot,  // or the cell at this byte address
    output logic done,  // strobe: the job has been passed to the link or rejected
    output logic refused,  // strobe, with done: the descriptor was invalid
    output sram_request_t mem,  // memory: request, writes of lane 0
    input logic mem_gnt,  // grant
    input logic [63:0] mem_rdata,  // read data, one clock later
    output logic send_valid,  // entry for myri_packet_tx
    input logic send_ready,  // accepted
    output send_head_t send_head,  // its fields
    output logic [63:0] send_data,  // its byte lanes
    output send_trace_t trace,  // events of this clock; a packet begins with the request of its descriptor or slot
    output logic in_flight,  // a packet or cell is being sent
    output logic busy  // 1 = a further clock edge is needed
);
  typedef enum logic [2:0] {
    IDLE,  // request the descriptor or the cell's header
    LOOK,  // receive it
    CIRCUIT,  // request the cell's circuit
    ROUTE,  // send its route bytes
    HEADER,  // send header and HEC
    DATA,  // send the packet or the cell's payload
    MARK  // update the descriptor's state
  } state_t;
  localparam int BUFFER_LOG2 = $clog2(SIZE_BUFFER);

  state_t state_q;
  logic   fresh_q;  // the word requested at the last edge is on mem_rdata
  logic   have_q;  // DATA: a word is available
  logic [63:0] kept_q, word;
  logic [31:0] told;  // descriptor
  logic [12:0] until_end;  // bytes skipped and sent
  logic right;
  logic [22:0] at_q;  // word requested next, or available
  logic [11:0] left_q;  // bytes still to send
  logic [2:0] skip_q;
  logic [3:0] room;  // bytes of the packet in the word
  logic [3:0] own_q;  // the host's own bits of the descriptor
  logic [31:0] header_q;
  logic [7:0] hec;
  logic [2:0] route;  // route bytes of the circuit
  logic last, want, put, pushed, looked, known, next_known;
  logic [ 2:0] first;
  logic [ 3:0] end_lane;
  logic [63:0] lanes;
  logic [31:0] bytes_q;
  logic [31:0] bytes_d, key;
  logic [47:0] start_q;
  logic [22:0] start_at_q;  // byte address of the packet, or of the cell's slot
  logic unused_ok;

  assign word = fresh_q ? mem_rdata : kept_q;
  assign told = {word[7:0], word[15:8], word[23:16], word[31:24]};
  assign until_end = {1'b0, told[DESC_BYTES+:12]} + {10'd0, told[DESC_SKIP+:3]};
  assign right = told[DESC_STATE+:4] == STATE_READY && told[DESC_BYTES+:12] != 12'd0 && until_end <= 13'(SIZE_BUFFER);
  assign route = word[2:0];

  assign unused_ok = ^{told[23:19], told[15:12]};

  // Memory requests.
  assign looked = state_q == IDLE && job_valid;
  assign want = state_q == DATA && (!have_q || (pushed && !last));
  assign mem.req = looked || state_q == CIRCUIT || want || state_q == MARK;
  assign mem.write = state_q == MARK;
  assign mem.be = 8'h01;
  assign mem.wdata = {56'd0, STATE_SENT, own_q};
  assign mem.addr = state_q == CIRCUIT ? {14'd0, header_q[17:16], header_q[31:28], 3'd0} :
      state_q == DATA ? (have_q ? at_q + 23'd8 : at_q) : cells ? job_slot : {13'd0, job_number, 3'd0};

  // Words to the link.
  assign room = 4'd8 - {1'b0, skip_q};
  assign last = left_q <= {8'd0, room};
  assign first = state_q == ROUTE ? 3'd0 - route : state_q == HEADER ? 3'd3 : skip_q;
  assign end_lane = state_q == DATA && last ? {1'b0, skip_q} + left_q[3:0] : 4'd8;
  assign lanes = state_q == HEADER ? {hec, header_q, 24'd0} : word;
  assign put = (state_q == DATA && have_q) || state_q == HEADER || (state_q == ROUTE && route != 3'd0);
  assign send_valid = put;
  assign pushed = put && send_ready;
  assign send_head = {1'b1, 1'b0, state_q == DATA && last, first, end_lane};
  assign send_data = lanes;

  assign refused = state_q == LOOK && !cells && !right;
  assign done = refused || (state_q == MARK && mem_gnt) || (cells && state_q == DATA && pushed && last);
  assign in_flight = state_q != IDLE;
  assign busy = mem.req || state_q == LOOK || (state_q == ROUTE && !put) || pushed || fresh_q;

  myri_fifo_card_hec u_hec (
      .header(header_q),
      .hec(hec)
  );

  always_ff @(posedge clk) begin
    if (rst) begin
      state_q <= IDLE;
      {fresh_q, have_q, kept_q, at_q, left_q, skip_q, own_q, header_q} <= '0;
    end else begin
      fresh_q <= mem.req && mem_gnt && !mem.write;
      if (fresh_q) kept_q <= mem_rdata;
      case (state_q)
        IDLE: if (looked && mem_gnt) state_q <= LOOK;
        LOOK: begin
          at_q <= cells ? job_slot + 23'd8 : {{(23 - 7 - BUFFER_LOG2) {1'b0}}, job_number, {BUFFER_LOG2{1'b0}}};
          left_q <= cells ? 12'(SIZE_PAYLOAD) : told[DESC_BYTES+:12];
          skip_q <= cells ? 3'd0 : told[DESC_SKIP+:3];
          own_q <= told[DESC_OWN+:4];
          header_q <= word[63:32];
          have_q <= 1'b0;
          state_q <= cells ? CIRCUIT : right ? DATA : IDLE;
        end
        CIRCUIT: if (mem_gnt) state_q <= ROUTE;
        ROUTE: if (!put || send_ready) state_q <= HEADER;
        HEADER: if (send_ready) state_q <= DATA;
        DATA: begin
          if (want && mem_gnt) have_q <= 1'b1;
          else if (pushed) have_q <= 1'b0;
          if (pushed) begin
            at_q   <= at_q + 23'd8;
            left_q <= left_q - {8'd0, room};
            skip_q <= 3'd0;
            if (last) state_q <= cells ? IDLE : MARK;
          end
        end
        default: if (mem_gnt) state_q <= IDLE;
      endcase
    end
  end

  // Trace.
  assign trace.tx_start = pushed && next_known && !known;
  assign trace.tx_start_ago = 32'(cycle - start_q);
  assign trace.tx_start_at = {1'b0, start_at_q};
  assign trace.tx_start_key = key;
  assign trace.tx_read = pushed && send_head.tail;
  assign trace.tx_read_key = key;
  assign trace.tx_read_bytes = bytes_d;
  assign bytes_d = bytes_q + {28'd0, end_lane} - {29'd0, first};

  always_ff @(posedge clk) begin
    if (rst) begin
      bytes_q <= 32'd0;
      start_q <= 48'd0;
      start_at_q <= 23'd0;
    end else begin
      if (pushed) bytes_q <= send_head.tail ? 32'd0 : bytes_d;
      if (state_q == LOOK) begin
        start_q <= cycle;
        start_at_q <= cells ? job_slot : {{(23 - 7 - BUFFER_LOG2) {1'b0}}, job_number, BUFFER_LOG2'(told[DESC_SKIP+:3])
        };
      end
    end
  end

  myri_packet_key u_key (
      .clk,
      .rst,
      .first,
      .known,
      .next_known,
      .take(pushed),
      .tail(send_head.tail),
      .last(end_lane),
      .data(lanes),
      .next_key(key)
  );
endmodule
