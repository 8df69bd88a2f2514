// Data path of the SP adapter: both engines, the two FIFOs between them, the buffers of the link interface, and the
// internal bus that the right engine shares with host and processor.
//
// bus master -> left engine -> Send FIFO -> right engine -> send buffer -> link
// link -> receive buffer -> right engine -> Recv/Cmd FIFO -> left engine -> bus master
//
// Left and right engine overlap on receive. On send the right engine waits for all user data of a packet, as the
// hardware does (paper 001, 3.3.2). Timing: see the parts.
module sp_engines
  import myri_nic_engines_pkg::*;
  import myri_pci_pkg::*;
  import myri_sleep_pkg::*;
  import myri_nic_trace_pkg::*;
  import sp_trace_pkg::*;
  import sp_adapter_pkg::*;
#(
    parameter int SLOTS_LOG2 = 1  // packets of the receive buffer = 2**SLOTS_LOG2
) (
    input logic clk,  // NIC clock
    input logic rst,  // synchronous reset
    input logic [47:0] cycle,  // index of the coming edge
    input logic [15:0] cfg_start_clocks,  // start-up of a command of the left engine
    input logic [7:0] cfg_bus_beat,  // NIC clocks that a beat of the right engine keeps the internal bus
    input logic [7:0] cfg_bus_access,  // NIC clocks that an access of host or processor keeps it
    input logic w_command,  // strobes: insert a command,
    input logic w_words,  // insert data,
    input logic [63:0] w_pair,  // with both: both words
    input logic w_next,  // RECV_NEXT,
    input logic w_send,  // one of SEND0..SEND5,
    input logic w_own,  // one of OWN0..OWN15,
    input logic [3:0] w_index,  // with both: which; and which of RECV0..RECV7 is read
    input logic w_start,  // SEND_START
    input logic [31:0] w_data,  // with all three: the value
    output logic arrived,  // levels of STATUS: a packet is at the head,
    output logic send_free,  // the send side is free,
    output logic queue_room,  // the command queue has room,
    output logic left_idle,  // every command is done
    output logic set_fetched,  // strobes: a FETCH is done,
    output logic set_stored,  // a STORE is done,
    output logic set_sent,  // a packet is in the send buffer,
    output logic set_read,  // a READ is done,
    output logic set_alarm,  // an ALARM is done
    input logic [4:0] r_index,  // which of the words of the read buffer is read
    output logic [31:0] read_word,  // its value
    output logic [31:0] recv_word,  // RECV0..RECV7 at w_index
    output logic [31:0] recv_status,  // RECV_STATUS
    input logic pio_req,  // internal bus: request of the host
    output logic pio_gnt,  // grant
    input logic cpu_req,  // internal bus: request of the processor
    output logic cpu_gnt,  // grant
    output logic cmd_valid,  // command to the bus master
    input logic cmd_ready,  // accepted
    output pci_transfer_t cmd,  // command
    output logic wr_valid,  // beat to the bus master
    input logic wr_ready,  // accepted
    output logic [63:0] wr_data,  // PCI lanes
    input logic rd_valid,  // beat or end of command from the bus master
    output logic rd_ready,  // accepted
    input pci_beat_t rd,  // beat
    output logic send_valid,  // entry for myri_packet_tx
    input logic send_ready,  // accepted
    output send_head_t send_head,  // its fields
    output logic [63:0] send_data,  // its byte lanes
    input logic recv_valid,  // entry of myri_packet_rx
    output logic recv_ready,  // accepted
    input recv_head_t recv_head,  // its fields
    input logic [63:0] recv_data,  // its byte lanes
    output sp_engine_trace_t trace,  // events of this clock
    output logic dma_error,  // strobes: a command was ended by an abort,
    output logic send_misuse,  // a SEND_START was ignored,
    output sleep_t sleep  // when the NIC clock must run
);
  logic busy, in_flight;
  alarm_t alarm;  // start-up of the left engine
  localparam int FIFO_LOG2 = $clog2(SIZE_FIFO / 8);

  // FIFOs, in and out: Send, Recv/Cmd.
  logic si_valid, si_ready, so_valid, so_ready, ci_valid, ci_ready, co_valid, co_ready;
  logic [63:0] si_data, so_data, ci_data, co_data;
  logic [FIFO_LOG2:0] send_level, command_level;
  logic read_start, read_valid;
  // Right engine.
  logic tx_req, tx_gnt, rx_req, rx_gnt, look_next, move_valid, move_release;
  logic [ 7:0] move_next;
  logic [63:0] move_word;
  logic [11:0] move_bytes;
  logic [31:0] move_key;
  logic engine_idle, queue_idle, send_in_flight, rx_in_flight, unused_ok;
  logic bus_busy, left_busy, tx_busy, rx_busy, queue_busy, si_busy, ci_busy;

  assign busy = bus_busy || left_busy || tx_busy || rx_busy || queue_busy || si_busy || ci_busy;
  assign left_idle = engine_idle && queue_idle && !co_valid;
  assign sleep = {busy, busy, in_flight, alarm};
  assign in_flight = !left_idle || send_in_flight || rx_in_flight;
  assign unused_ok = ^{command_level, so_valid};

  sp_bus u_bus (
      .clk,
      .rst,
      .pio_req,
      .pio_gnt,
      .tx_req,
      .tx_gnt,
      .rx_req,
      .rx_gnt,
      .cpu_req,
      .cpu_gnt,
      .cfg_beat(cfg_bus_beat),
      .cfg_access(cfg_bus_access),
      .busy(bus_busy)
  );

  sp_left_engine #(
      .FIFO_LOG2(FIFO_LOG2)
  ) u_left (
      .clk,
      .rst,
      .cycle,
      .cfg_start_clocks,
      .read_start,
      .read_valid,
      .set_read,
      .set_alarm,
      .set_fetched,
      .set_stored,
      .cmd_valid,
      .cmd_ready,
      .cmd,
      .wr_valid,
      .wr_ready,
      .wr_data,
      .rd_valid,
      .rd_ready,
      .rd,
      .alarm,
      .in_valid(co_valid),
      .in_ready(co_ready),
      .in_data(co_data),
      .level(send_level),
      .out_valid(si_valid),
      .out_ready(si_ready),
      .out_data(si_data),
      .error(dma_error),
      .trace(trace.dma),
      .idle(engine_idle),
      .busy(left_busy)
  );

  sp_read_buffer u_read (
      .clk(clk),
      .rst(rst),
      .start(read_start),
      .w_valid(read_valid),
      .w_data(si_data),
      .index(r_index),
      .word(read_word)
  );

  myri_fifo #(
      .WIDTH(64),
      .DEPTH_LOG2(FIFO_LOG2)
  ) u_send_fifo (
      .clk(clk),
      .rst(rst),
      .w_valid(si_valid),
      .w_ready(si_ready),
      .w_data(si_data),
      .r_valid(so_valid),
      .r_ready(so_ready),
      .r_data(so_data),
      .level(send_level),
      .busy(si_busy)
  );

  sp_send #(
      .FIFO_LOG2(FIFO_LOG2)
  ) u_send (
      .clk,
      .rst,
      .w_own,
      .w_index,
      .w_start,
      .w_data,
      .set_sent,
      .send_valid,
      .send_ready,
      .send_head,
      .send_data,
      .w_word(w_send),
      .free(send_free),
      .misuse(send_misuse),
      .level(send_level),
      .in_ready(so_ready),
      .in_data(so_data),
      .bus_req(tx_req),
      .bus_gnt(tx_gnt),
      .trace(trace.send),
      .in_flight(send_in_flight),
      .busy(tx_busy)
  );

  sp_receive_buffer #(
      .SLOTS_LOG2(SLOTS_LOG2)
  ) u_receive (
      .clk,
      .rst,
      .arrived,
      .look_next,
      .move_valid,
      .move_next,
      .move_word,
      .move_bytes,
      .move_release,
      .in_valid(recv_valid),
      .in_ready(recv_ready),
      .in_head(recv_head),
      .in_data(recv_data),
      .look_index(w_index[2:0]),
      .look_word(recv_word),
      .look_status(recv_status),
      .move_key,
      .trace(trace.recv),
      .in_flight(rx_in_flight),
      .busy(rx_busy)
  );

  sp_commands u_commands (
      .clk,
      .rst,
      .w_command,
      .w_words,
      .w_next,
      .arrived,
      .look_next,
      .move_valid,
      .move_next,
      .move_word,
      .move_bytes,
      .move_release,
      .w_data(w_pair),
      .room(queue_room),
      .overflow(trace.queue_overflow),
      .misuse(trace.packet_misuse),
      .bus_req(rx_req),
      .bus_gnt(rx_gnt),
      .out_valid(ci_valid),
      .out_ready(ci_ready),
      .out_data(ci_data),
      .move_key,
      .trace(trace.move),
      .idle(queue_idle),
      .busy(queue_busy)
  );

  myri_fifo #(
      .WIDTH(64),
      .DEPTH_LOG2(FIFO_LOG2)
  ) u_command_fifo (
      .clk(clk),
      .rst(rst),
      .w_valid(ci_valid),
      .w_ready(ci_ready),
      .w_data(ci_data),
      .r_valid(co_valid),
      .r_ready(co_ready),
      .r_data(co_data),
      .level(command_level),
      .busy(ci_busy)
  );
endmodule
