// Shared functions of the link blocks.
package myri_link_pkg;
  // Return value modulo divisor. Not inlined: a simulator then divides only where a branch reaches the call, not at
  // every edge.
  function automatic logic [47:0] remainder(input logic [47:0] value, input logic [47:0] divisor);
    /* verilator no_inline_task */
    remainder = value % divisor;
  endfunction
endpackage
