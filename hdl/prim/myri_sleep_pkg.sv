// When the clock of a module must run.
//
// A module that may sleep has an output `sleep` of the type sleep_t. No behaviour depends on it: hardware without clock
// gating leaves it unconnected.
package myri_sleep_pkg;
  // Point in time at which a sleeping clock must run.
  typedef struct packed {
    logic valid;  // the alarm is set
    logic [47:0] cycle;  // index of the first needed edge
  } alarm_t;
  // Need for clock edges. While `busy` is 0 and the inputs are stable, edges before the alarm change nothing visible.
  typedef struct packed {
    logic needed;  // 0 = an edge changes no state, for any inputs: enable of the module's own clock gate
    logic busy;  // a further edge is needed
    logic in_flight;  // work is unfinished, although it may wait without edges
    alarm_t alarm;  // edge at which the clock must run
  } sleep_t;
  // 1 = clocks may skip edges, so time is computed from the index of an edge; 0 = every edge is counted. Tools for
  // synthesis define SYNTHESIS.
`ifdef SYNTHESIS
  localparam bit CLOCKS_SLEEP = 1'b0;
`else
  localparam bit CLOCKS_SLEEP = 1'b1;
`endif
  // 1 = logic is evaluated even where its result is known from a condition; 0 = a simulator saves that work. The result
  // is the same: in hardware the condition would only make the path longer.
  localparam bit EVALUATE_ALWAYS = !CLOCKS_SLEEP;
  localparam logic [48:0] NO_ALARM = 49'd0;  // no alarm set
  // Return the earlier of two alarms.
  function automatic logic [48:0] earlier(input logic [48:0] a, input logic [48:0] b);
    return (a[48] && (!b[48] || a[47:0] < b[47:0])) ? a : b;
  endfunction
  // Return the needs of two modules with one clock as those of both.
  function automatic logic [51:0] both(input logic [51:0] a, input logic [51:0] b);
    return {a[51:49] | b[51:49], earlier(a[48:0], b[48:0])};
  endfunction
endpackage
