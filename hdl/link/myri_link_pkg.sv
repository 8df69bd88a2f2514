// Shared type and functions of the link blocks.
package myri_link_pkg;
  // State and events of a link port.
  typedef struct packed {
    logic stopped;  // the peer's STOP is in force
    logic stopping;  // STOP is in force at the local receiver
    logic overflow;  // strobe: a character was lost
    logic illegal;  // strobe: unknown control character
    logic forward_reset;  // strobe: the packet being sent was cut
    logic short_timeout;  // strobe: GO assumed
    logic beat_seen;  // a BEAT was received since reset
    logic beat_missed;  // the last due BEAT did not arrive
    logic link_down;  // three successive BEATs did not arrive
    logic [7:0] fill;  // characters in the slack buffer
  } link_status_t;
  // Return 1 if STOP is in force after a character of an undamaged link; `in_force`: it was in force before it.
  function automatic logic stop_after(input logic [8:0] character, input logic in_force);
    stop_after = character == myri_symbol_pkg::STOP || (in_force && character != myri_symbol_pkg::GO);
  endfunction
  // Return value modulo divisor. Not inlined: a simulator then divides only where a branch reaches the call, not at
  // every edge.
  function automatic logic [47:0] remainder(input logic [47:0] value, input logic [47:0] divisor);
    /* verilator no_inline_task */
    remainder = value % divisor;
  endfunction
endpackage
