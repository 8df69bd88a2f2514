// Pin bundles of the PCI bus: bit positions of what an agent drives (out) and what it sees (in).
// Drive and enable are two wires per signal; nothing here is an inout. What is not enabled is driven 1. Names ending in
// _N are active low, as on the connector.
// Every user takes only some of the positions, so unused ones are no finding.
/* verilator lint_off UNUSEDPARAM */
package myri_pci_pkg;
  // Signals common to both bundles: the drive half of `out`, and the resolved value in `in`.
  localparam int PCI_AD = 0;  // AD[63:0]
  localparam int PCI_CBE = 64;  // C/BE#[7:0]
  localparam int PCI_PAR = 72;  // parity of AD[31:0], C/BE#[3:0], one clock later
  localparam int PCI_PAR64 = 73;  // parity of AD[63:32], C/BE#[7:4], one clock later
  localparam int PCI_FRAME_N = 74;  // cycle frame
  localparam int PCI_IRDY_N = 75;  // initiator ready
  localparam int PCI_TRDY_N = 76;  // target ready
  localparam int PCI_DEVSEL_N = 77;  // device select
  localparam int PCI_STOP_N = 78;  // target asks the master to stop
  localparam int PCI_REQ64_N = 79;  // 64-bit transfer wanted
  localparam int PCI_ACK64_N = 80;  // 64-bit transfer accepted
  localparam int PCI_PERR_N = 81;  // data parity error
  localparam int PCI_SERR_N = 82;  // system error (open drain)
  localparam int PCI_WIRES = 83;  // number of shared wires

  // Enables of the drive half, in `out` only.
  localparam int PCI_OE = 83;  // first enable
  localparam int PCI_OE_AD_LO = 83;  // AD[31:0]
  localparam int PCI_OE_AD_HI = 84;  // AD[63:32]
  localparam int PCI_OE_CBE_LO = 85;  // C/BE#[3:0]
  localparam int PCI_OE_CBE_HI = 86;  // C/BE#[7:4]
  localparam int PCI_OE_PAR = 87;  // PAR
  localparam int PCI_OE_PAR64 = 88;  // PAR64
  localparam int PCI_OE_FRAME = 89;  // FRAME#
  localparam int PCI_OE_IRDY = 90;  // IRDY#
  localparam int PCI_OE_TRDY = 91;  // TRDY#
  localparam int PCI_OE_DEVSEL = 92;  // DEVSEL#
  localparam int PCI_OE_STOP = 93;  // STOP#
  localparam int PCI_OE_REQ64 = 94;  // REQ64#
  localparam int PCI_OE_ACK64 = 95;  // ACK64#
  localparam int PCI_OE_PERR = 96;  // PERR#
  localparam int PCI_OE_SERR = 97;  // SERR#
  localparam int PCI_ENABLES = 15;  // number of enables

  // The sides of an agent, each with a gated clock.
  // Rule: an edge of it changes nothing that can be seen while its clock enable is 0 before it.
  localparam int PCI_SIDES = 2;
  localparam int SIDE_TARGET = 0;  // target and what is behind it
  localparam int SIDE_MASTER = 1;  // master and what is behind it

  // Wires of one agent alone.
  localparam int PCI_REQ_N = 98;  // out: bus request
  localparam int PCI_INTA_N = 99;  // out: interrupt, open drain (0 pulls the wire down)
  localparam int PCI_M66 = 100;  // out: card can run at 66 MHz (0 pulls M66EN down)
  localparam int PCI_OUT_BITS = 101;  // width of an `out` bundle
  localparam logic [PCI_OUT_BITS-1:0] PCI_NOTHING = {
    3'b111, {PCI_ENABLES{1'b0}}, {PCI_WIRES{1'b1}}
  };  // drives nothing

  localparam int PCI_GNT_N = 83;  // in: bus grant
  localparam int PCI_IDSEL = 84;  // in: configuration select
  localparam int PCI_M66EN = 85;  // in: the bus runs at 66 MHz
  localparam int PCI_IN_BITS = 86;  // width of an `in` bundle

  // Bus commands on C/BE#[3:0] in the address phase.
  localparam logic [3:0] PCI_MEM_READ = 4'h6;  // memory read
  localparam logic [3:0] PCI_MEM_WRITE = 4'h7;  // memory write
  localparam logic [3:0] PCI_CONFIG_READ = 4'hA;  // configuration read
  localparam logic [3:0] PCI_CONFIG_WRITE = 4'hB;  // configuration write
  localparam logic [3:0] PCI_MEM_READ_MULTIPLE = 4'hC;  // memory read multiple
  localparam logic [3:0] PCI_MEM_READ_LINE = 4'hE;  // memory read line
  localparam logic [3:0] PCI_MEM_WRITE_INV = 4'hF;      // memory write and invalidate (taken as memory write)
endpackage
/* verilator lint_on UNUSEDPARAM */
