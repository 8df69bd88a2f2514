// Data path of the SP adapter for the sp_engines bench, which acts as processor, bus master and link.
module sim_sp_bench
  import myri_sleep_pkg::*;
  import myri_nic_engines_pkg::*;
  import myri_nic_trace_pkg::*;
  import sp_trace_pkg::*;
(
    input  logic        clk,                // NIC clock, free-running
    input  logic        rst,                // synchronous reset
    input  logic        sleep,              // 1 = skip unneeded clock edges
    output logic [47:0] cycle,              // index of the edge
    output logic [31:0] edges,              // edges the engines had
    input  logic [15:0] cfg_start_clocks,   // start-up of a command
    input  logic [ 7:0] cfg_bus_beat,       // clocks of a beat on the internal bus
    input  logic [ 7:0] cfg_bus_access,     // clocks of a single access
    input  logic        w_command,          // strobes of the processor: insert a command,
    input  logic        w_words,            // insert data,
    input  logic [63:0] w_pair,             // with both: both words
    input  logic        w_next,             // RECV_NEXT,
    input  logic        w_send,             // one of SEND0..SEND5,
    input  logic        w_own,              // one of OWN0..OWN15,
    input  logic [ 3:0] w_index,            // which; and which of RECV0..RECV7
    input  logic        w_start,            // SEND_START
    input  logic [31:0] w_data,             // value
    output logic        arrived,            // levels of STATUS: a packet is at the head,
    output logic        send_free,          // the send side is free,
    output logic        queue_room,         // the command queue has room,
    output logic        left_idle,          // every command is done
    output logic        set_fetched,        // strobes: a FETCH is done,
    output logic        set_stored,         // a STORE is done,
    output logic        set_sent,           // a packet is in the send buffer,
    output logic        set_read,           // a READ is done,
    output logic        set_alarm,          // an ALARM is done
    input  logic [ 4:0] r_index,            // word of the read buffer
    output logic [31:0] read_word,          // its value
    output logic [31:0] recv_word,          // RECV0..RECV7
    output logic [31:0] recv_status,        // RECV_STATUS
    input  logic        pio_req,            // the host requests the internal bus
    output logic        pio_gnt,            // grant
    input  logic        cpu_req,            // the processor requests the internal bus
    output logic        cpu_gnt,            // grant
    output logic        cmd_valid,          // command to the bus master
    input  logic        cmd_ready,          // accepted
    output logic [48:0] cmd_data,           // command
    output logic        wr_valid,           // beat to the bus master
    input  logic        wr_ready,           // accepted
    output logic [63:0] wr_data,            // PCI lanes
    input  logic        rd_valid,           // beat or end of command
    output logic        rd_ready,           // accepted
    input  logic        rd_done,            // end of command
    input  logic        rd_error,           // with an error
    input  logic [63:0] rd_beat,            // PCI lanes
    output logic        send_valid,         // entry to the link
    input  logic        send_ready,         // accepted
    output logic        send_tail,          // its fields: the last of a packet,
    output logic [ 3:0] send_last,          // bytes,
    output logic [63:0] send_lanes,         // byte lanes
    input  logic        recv_valid,         // entry from the link
    output logic        recv_ready,         // accepted
    input  logic        recv_tail,          // its fields: the last of a packet,
    input  logic [ 3:0] recv_count,         // bytes,
    input  logic [ 7:0] recv_syndrome,      // CRC-8 syndrome,
    input  logic [63:0] recv_lanes,         // byte lanes
    output logic        st_dma_error,       // strobes: a command was ended by an abort,
    output logic        st_send_misuse,     // a SEND_START was ignored,
    output logic        st_queue_overflow,  // an insertion was lost,
    output logic        st_packet_misuse,   // a command exceeded its packet
    output logic        tr_dma_start,       // trace: a command starts to move
    output logic        tr_tx_start,        // trace: the right engine begins with a packet
    output logic        tr_move_start,      // trace: the right engine begins to move user bytes
    output logic [31:0] tr_move_key,        // their packet's key
    output logic        in_flight,          // an engine is active
    output logic        busy                // 1 = a further clock edge is needed
);
  logic run_clk, unused_ok;
  alarm_t alarm;
  send_head_t send_head;
  sp_engine_trace_t trace;
  sleep_t needs;
  assign in_flight = needs.in_flight;
  assign alarm = needs.alarm;
  assign busy = needs.busy;

  assign send_tail = send_head.tail;
  assign send_last = send_head.last;
  assign tr_tx_start = trace.send.tx_start;
  assign tr_dma_start = trace.dma.dma_start;
  assign tr_move_start = trace.move.start;
  assign tr_move_key = trace.move.key;
  assign st_queue_overflow = trace.queue_overflow;
  assign st_packet_misuse = trace.packet_misuse;
  assign unused_ok = ^{send_head, trace};

  sim_gate u_gate (
      .clk,
      .rst,
      .sleep,
      .busy,
      .alarm,
      .cycle,
      .edges,
      .gated(run_clk)
  );

  sp_engines u_engines (
      .rst,
      .cycle,
      .cfg_start_clocks,
      .cfg_bus_beat,
      .cfg_bus_access,
      .w_command,
      .w_words,
      .w_pair,
      .w_next,
      .w_send,
      .w_own,
      .w_index,
      .w_start,
      .w_data,
      .arrived,
      .send_free,
      .queue_room,
      .left_idle,
      .set_fetched,
      .set_stored,
      .set_sent,
      .set_read,
      .set_alarm,
      .r_index,
      .read_word,
      .recv_word,
      .recv_status,
      .pio_req,
      .pio_gnt,
      .cpu_req,
      .cpu_gnt,
      .cmd_valid,
      .cmd_ready,
      .cmd(cmd_data),
      .wr_valid,
      .wr_ready,
      .wr_data,
      .rd_valid,
      .rd_ready,
      .send_valid,
      .send_ready,
      .send_head,
      .recv_valid,
      .recv_ready,
      .trace,
      .sleep(needs),
      .clk(run_clk),
      .rd({rd_done, rd_error, rd_beat}),
      .recv_head({recv_tail, recv_count, recv_syndrome}),
      .recv_data(recv_lanes),
      .send_data(send_lanes),
      .dma_error(st_dma_error),
      .send_misuse(st_send_misuse)
  );
endmodule
