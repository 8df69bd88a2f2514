// Left engine of the SP adapter: executes the commands of the Recv/Cmd FIFO in order.
//
// A command is {word, host address} (pymodels/nics/sp/registers.py). FETCH: bytes of host memory become words of the
// Send FIFO, packed from lane 0, once all of them have room. STORE: the words after the command in the FIFO, packed
// from lane 0, become bytes of host memory. Commands execute in the order of the FIFO, so a FETCH waits for every
// earlier STORE. READ is like FETCH, into the read buffer. ALARM requests an interrupt. A command of no bytes is done
// when it reaches the head, without a start-up.
// Beats to and from the bus master are 64-bit PCI lanes; the end of each command is returned as a beat.
// Timing: a command is on the bus cfg_start_clocks after it reached the head, then one word per clock.
// Clock gating: the start-up is an alarm.
module sp_left_engine
  import myri_pci_pkg::*;
  import myri_sleep_pkg::*;
  import myri_nic_trace_pkg::*;
  import sp_adapter_pkg::*;
#(
    parameter int FIFO_LOG2 = 9  // words of the Send FIFO = 2**FIFO_LOG2
) (
    input logic clk,  // NIC clock
    input logic rst,  // synchronous reset
    input logic [47:0] cycle,  // index of the coming edge
    input logic [15:0] cfg_start_clocks,  // start-up of a command
    input logic in_valid,  // Recv/Cmd FIFO: a word is there
    output logic in_ready,  // accepted
    input logic [63:0] in_data,  // {word, address} of a command, or lanes
    input logic [FIFO_LOG2:0] level,  // words in the Send FIFO
    output logic out_valid,  // a word for the Send FIFO
    input logic out_ready,  // accepted
    output logic [63:0] out_data,  // byte lanes
    output logic read_start,  // strobe: a READ begins
    output logic read_valid,  // a word for the read buffer
    output logic set_read,  // strobe: a READ is done
    output logic set_alarm,  // strobe: an ALARM is done
    output logic set_fetched,  // strobe: a FETCH is done
    output logic set_stored,  // strobe: a STORE is done
    output logic error,  // strobe: a command was ended by an abort
    output logic cmd_valid,  // command to the bus master
    input logic cmd_ready,  // accepted
    output pci_transfer_t cmd,  // command
    output logic wr_valid,  // beat to the bus master
    input logic wr_ready,  // accepted
    output logic [63:0] wr_data,  // PCI lanes
    input logic rd_valid,  // beat or end of command from the bus master
    output logic rd_ready,  // accepted
    input pci_beat_t rd,  // beat
    output dma_trace_t trace,  // events of this clock
    output logic idle,  // no command is active
    output alarm_t alarm,  // alarm of the start-up delay
    output logic busy  // 1 = a further clock edge is needed
);
  typedef enum logic [1:0] {
    IDLE,
    START,  // wait for the start-up, and for room for a FETCH
    ISSUE,  // send the command to the bus master
    MOVE    // move beats until the command ends
  } state_t;

  state_t state_q;
  logic [15:0] bytes_q;
  logic [31:0] address_q;
  logic [47:0] start_at_q;
  logic ended_q, failed_q;
  logic [31:0] fetches_q, stores_q;  // commands begun of each kind
  logic room, begin_move, complete;
  logic a_in_valid, a_in_want, a_in_skip, a_out_valid, a_out_ready, a_active, a_busy;
  logic [63:0] a_in_data, a_out_data;
  logic beat;  // a beat of read data is available
  logic fetch_q, read_q, rings_q;  // kind of the command: FETCH or READ, READ, ALARM
  logic [22:0] number;
  sp_command_t head;  // the word at the head, as a command
  logic unused_ok;

  assign head = in_data;
  assign idle = state_q == IDLE;
  assign room = !fetch_q || read_q ||
      {2'b00, bytes_q[15:3]} + 15'(level) + 15'(bytes_q[2:0] != 3'd0) <= 15'd1 << FIFO_LOG2;
  assign begin_move = state_q == START && room && cycle >= start_at_q;
  assign complete = (state_q == MOVE && ended_q && !a_active) || (begin_move && bytes_q == 16'd0);

  // FETCH: split beats into words. STORE: join words into beats.
  assign beat = rd_valid && !rd.done;
  assign a_in_valid = fetch_q ? beat : in_valid && state_q == MOVE;
  assign a_in_data = fetch_q ? rd.data : in_data;
  assign a_out_ready = fetch_q ? out_ready || read_q : wr_ready;
  assign in_ready = idle || (state_q == MOVE && !fetch_q && a_in_want && (a_in_skip || a_out_ready));
  assign rd_ready = rd.done || (a_in_want && (a_in_skip || a_out_ready));
  assign out_valid = fetch_q && !read_q && a_out_valid;
  assign read_valid = fetch_q && read_q && a_out_valid;
  assign read_start = begin_move && read_q;
  assign out_data = a_out_data;
  assign wr_valid = !fetch_q && a_out_valid;
  assign wr_data = a_out_data;
  assign cmd_valid = state_q == ISSUE;
  assign cmd.write = !fetch_q;
  assign cmd.addr = address_q;
  assign cmd.bytes = bytes_q;

  myri_byte_aligner u_aligner (
      .clk(clk),
      .rst(rst),
      .start(begin_move && bytes_q != 16'd0),
      .src(fetch_q ? address_q[2:0] : 3'd0),
      .dst(fetch_q ? 3'd0 : address_q[2:0]),
      .bytes({16'd0, bytes_q}),
      .in_valid(a_in_valid),
      .in_want(a_in_want),
      .in_skip(a_in_skip),
      .in_data(a_in_data),
      .in_be(),
      .out_valid(a_out_valid),
      .out_ready(a_out_ready),
      .out_data(a_out_data),
      .out_be(),
      .out_bytes(),
      .active(a_active),
      .busy(a_busy)
  );

  always_ff @(posedge clk) begin
    if (rst) begin
      state_q <= IDLE;
      {bytes_q, address_q, start_at_q, ended_q, failed_q, fetch_q, read_q, rings_q} <= '0;
      {fetches_q, stores_q} <= 64'd0;
    end else begin
      case (state_q)
        IDLE:
        if (in_valid) begin
          state_q <= START;
          rings_q <= head.alarm;
          read_q <= head.read;
          fetch_q <= head.fetch;
          bytes_q <= head.bytes;
          address_q <= head.address;
          start_at_q <= cycle + {32'd0, head.bytes != 16'd0 ? cfg_start_clocks : 16'd0};
          {ended_q, failed_q} <= 2'b00;
        end
        START:
        if (begin_move) begin
          state_q <= bytes_q != 16'd0 ? ISSUE : IDLE;
          if (fetch_q && !read_q) fetches_q <= fetches_q + 32'd1;
          if (!fetch_q && !rings_q) stores_q <= stores_q + 32'd1;
        end
        ISSUE:   if (cmd_ready) state_q <= MOVE;
        default: if (complete) state_q <= IDLE;
      endcase
      if (rd_valid && rd.done) {ended_q, failed_q} <= {1'b1, rd.error};
    end
  end

  assign set_fetched = complete && fetch_q && !read_q;
  assign set_read = complete && fetch_q && read_q;
  assign set_stored = complete && !fetch_q && !rings_q;
  assign set_alarm = complete && rings_q;
  assign error = state_q == MOVE && complete && failed_q;
  // Its number among the FETCHes (READ: the next one's) or STOREs, from 0.
  assign number = 23'((fetch_q ? fetches_q : stores_q) - (state_q == START || read_q ? 32'd0 : 32'd1));
  assign trace = {
    begin_move && !rings_q,
    complete && !rings_q,
    {1'b0, !fetch_q},
    fetch_q,
    {16'd0, bytes_q},
    number
  };
  assign alarm.valid = state_q == START && room;
  assign alarm.cycle = start_at_q;
  assign busy = (idle && in_valid) || begin_move || (cmd_valid && cmd_ready) || (rd_valid && rd_ready) ||
      a_busy || complete;
  assign unused_ok = ^{head.packet, head.reserved};
endmodule
