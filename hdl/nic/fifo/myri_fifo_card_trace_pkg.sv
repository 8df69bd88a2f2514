// Trace of a FIFO card: that of any NIC, and what the host or another card did wrong.
package myri_fifo_card_trace_pkg;
  import myri_nic_trace_pkg::*;

  typedef struct packed {
    nic_trace_t nic;
    logic host_misuse;  // clk: an access of the host was rejected
    logic cell_refused;  // clk: a received cell was rejected
  } fifo_trace_t;
endpackage
