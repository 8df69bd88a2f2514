// The engines of a NIC that have a clock of their own: the NIC clock, of which edges may be left out.
//
// Rule: an edge of engine_clk[e] changes nothing while engine_needed[e] is 0 before it. So a board may gate these
// clocks, a simulator need not evaluate them, and one that drives all of them with the NIC clock sees the same.
package myri_nic_engines_pkg;
  localparam int ENGINES = 4;
  localparam int ENGINE_SEND = 0;  // net send, and its crossing to the link
  localparam int ENGINE_RECV = 1;  // net receive, and its crossing from the link
  localparam int ENGINE_DMA = 2;  // DMA chains, and their crossings to the PCI bus
  localparam int ENGINE_PIO = 3;  // PIO, control registers, doorbells, and their crossings to the PCI bus
endpackage
