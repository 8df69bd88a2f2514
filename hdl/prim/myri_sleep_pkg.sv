// Alarm of a module with a gated clock: the edge at which its clock must run.
package myri_sleep_pkg;
  typedef struct packed {
    logic valid;  // the alarm is set
    logic [47:0] cycle;  // index of the first needed edge
  } alarm_t;
  // 1 = clocks may skip edges, so time is computed from the index of an edge; 0 = every edge is counted. Tools for
  // synthesis define SYNTHESIS.
`ifdef SYNTHESIS
  localparam bit CLOCKS_SLEEP = 1'b0;
`else
  localparam bit CLOCKS_SLEEP = 1'b1;
`endif
  localparam logic [48:0] NO_ALARM = 49'd0;  // no alarm set
  // Return the earlier of two alarms.
  function automatic logic [48:0] earlier(input logic [48:0] a, input logic [48:0] b);
    return (a[48] && (!b[48] || a[47:0] < b[47:0])) ? a : b;
  endfunction
endpackage
