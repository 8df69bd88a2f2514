// The blocks of a NIC that have a gated clock: of the NIC clock, or of the link clock.
//
// Rule: an edge of such a clock changes nothing while its clock enable is 0 before it. So a board may gate these
// clocks, a simulator need not evaluate them, and one that drives all of them with the whole clock sees the same.
package myri_nic_engines_pkg;
  localparam int ENGINES = 6;  // of the NIC clock
  localparam int ENGINE_SEND = 0;  // net send, and its crossing to the link
  localparam int ENGINE_RECV = 1;  // net receive, and its crossing from the link
  localparam int ENGINE_DMA = 2;  // DMA chains, and their crossings to the PCI bus
  localparam int ENGINE_PIO = 3;  // PIO, control registers, doorbells, and their crossings to the PCI bus
  localparam int ENGINE_SRAM = 4;  // SRAM arbiter; the SRAM and the processor, which stand outside, may share its clock
  localparam int ENGINE_CONTROL = 5;  // registers, timers, ISR, crossings of link events and of the interrupt
  localparam int HALVES = 2;  // of the link clock
  localparam int HALF_TX = 0;  // packet transmitter, the port's transmitter, and the crossing to them
  localparam int HALF_RX = 1;  // packet receiver, the port's receiver, and the crossing from them
endpackage
