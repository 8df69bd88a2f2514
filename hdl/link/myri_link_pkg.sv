// Shared functions of the link blocks.
package myri_link_pkg;
  import myri_symbol_pkg::*;
  // Return 1 if STOP is in force after a character of an undamaged link; `in_force`: it was in force before it.
  function automatic logic stop_after(input logic [8:0] character, input logic in_force);
    stop_after = character == STOP || (in_force && character != GO);
  endfunction
  // Return value modulo divisor. Not inlined: a simulator then divides only where a branch reaches the call, not at
  // every edge.
  function automatic logic [47:0] remainder(input logic [47:0] value, input logic [47:0] divisor);
    /* verilator no_inline_task */
    remainder = value % divisor;
  endfunction
endpackage
