// What a module that sleeps asks for: the edge at which it wants to be awake.
package myri_sleep_pkg;
  typedef struct packed {
    logic valid;  // it waits for a moment
    logic [47:0] cycle;  // index of the first edge that it needs
  } alarm_t;
  localparam logic [48:0] NO_ALARM = 49'd0;  // it waits for none
  // The one of two that comes first.
  function automatic logic [48:0] earlier(input logic [48:0] a, input logic [48:0] b);
    return (a[48] && (!b[48] || a[47:0] < b[47:0])) ? a : b;
  endfunction
endpackage
