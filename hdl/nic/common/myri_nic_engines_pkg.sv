// Blocks of a NIC with a gated clock, derived from the NIC clock or the link clock.
//
// Rule: an edge of such a clock changes no state if its clock enable was 0 before it. A board may therefore gate these
// clocks, and a simulator may skip them; driving all of them with the ungated clock gives the same behaviour.
package myri_nic_engines_pkg;
  localparam int ENGINES = 6;  // of the NIC clock
  localparam int ENGINE_SEND = 0;  // net send, and its crossing to the link
  localparam int ENGINE_RECV = 1;  // net receive, and its crossing from the link
  localparam int ENGINE_DMA = 2;  // DMA chains, and their crossings to the PCI bus
  localparam int ENGINE_PIO = 3;  // PIO, control registers, doorbells, and their crossings to the PCI bus
  localparam int ENGINE_SRAM = 4;  // SRAM arbiter; the external SRAM and processor may share its clock
  localparam int ENGINE_CONTROL = 5;  // registers, timers, ISR, crossings of link events and of the interrupt
  localparam int HALVES = 2;  // of the link clock
  localparam int HALF_TX = 0;  // packet transmitter, the port's transmitter, and the crossing to them
  localparam int HALF_RX = 1;  // packet receiver, the port's receiver, and the crossing from them
endpackage
