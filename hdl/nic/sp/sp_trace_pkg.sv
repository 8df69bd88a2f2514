// Traces of an SP adapter: that of any NIC, and what its data path does in addition. All of clk, except `nic`.
package sp_trace_pkg;
  import myri_nic_trace_pkg::*;

  typedef struct packed {
    logic start;  // the right engine begins to move user bytes of a packet
    logic done;  // they are in the Recv/Cmd FIFO
    logic [31:0] key;  // packet key, with both
    logic [31:0] bytes;  // number of user bytes, with both
    logic [31:0] number;  // number of their STORE, from 0, with both
  } move_trace_t;  // right engine
  typedef struct packed {
    send_trace_t send;
    recv_trace_t recv;
    dma_trace_t dma;
    move_trace_t move;
    logic queue_overflow;  // an insertion into the command queue was lost
    logic packet_misuse;  // a command exceeded its packet
  } sp_engine_trace_t;  // data path
  typedef struct packed {
    nic_trace_t nic;
    move_trace_t move;
    logic queue_overflow;  // an insertion into the command queue was lost
    logic packet_misuse;  // a command exceeded its packet
  } sp_trace_t;  // adapter
endpackage
