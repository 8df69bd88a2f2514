// Pin bundles of the PCI bus: driven by an agent (pci_out_t) and seen by an agent (pci_in_t).
//
// Each signal has separate drive and enable wires; there is no inout. A disabled signal is driven 1. Names ending in _n
// are active low, as on the connector. Fields are listed from the top bit down.
// No module uses all constants, so unused ones are not reported.
/* verilator lint_off UNUSEDPARAM */
package myri_pci_pkg;
  // Shared wires: as driven in pci_out_t, as resolved in pci_in_t.
  localparam int PCI_WIRES = 83;  // bits of pci_wires_t
  typedef struct packed {
    logic serr_n;  // system error (open drain)
    logic perr_n;  // data parity error
    logic ack64_n;  // 64-bit transfer accepted
    logic req64_n;  // 64-bit transfer wanted
    logic stop_n;  // target asks the master to stop
    logic devsel_n;  // device select
    logic trdy_n;  // target ready
    logic irdy_n;  // initiator ready
    logic frame_n;  // cycle frame
    logic par64;  // parity of ad[63:32], cbe[7:4], one clock later
    logic par;  // parity of ad[31:0], cbe[3:0], one clock later
    logic [7:0] cbe;  // C/BE#
    logic [63:0] ad;  // address and data
  } pci_wires_t;

  // Enables of the shared wires.
  localparam int PCI_ENABLES = 15;  // bits of pci_enables_t
  typedef struct packed {
    logic serr, perr, ack64, req64, stop, devsel, trdy, irdy, frame, par64, par;
    logic cbe_hi;  // C/BE#[7:4]
    logic cbe_lo;  // C/BE#[3:0]
    logic ad_hi;  // AD[63:32]
    logic ad_lo;  // AD[31:0]
  } pci_enables_t;

  // Outputs of one agent.
  localparam int PCI_OUT_BITS = 101;  // bits of pci_out_t
  typedef struct packed {
    logic m66;  // card can run at 66 MHz (0 pulls M66EN down)
    logic inta_n;  // interrupt, open drain (0 pulls the wire down)
    logic req_n;  // bus request
    pci_enables_t enables;
    pci_wires_t wires;
  } pci_out_t;
  localparam logic [PCI_OUT_BITS-1:0] PCI_NOTHING = {
    3'b111, {PCI_ENABLES{1'b0}}, {PCI_WIRES{1'b1}}
  };  // drives nothing

  // Inputs of one agent.
  localparam int PCI_IN_BITS = 86;  // bits of pci_in_t
  typedef struct packed {
    logic m66en;  // the bus runs at 66 MHz
    logic idsel;  // configuration select
    logic gnt_n;  // bus grant
    pci_wires_t wires;
  } pci_in_t;

  // Sides of an agent, each with a gated clock.
  // Rule: an edge of a side's clock has no visible effect if its clock enable was 0 before it.
  localparam int PCI_SIDES = 2;
  localparam int SIDE_TARGET = 0;  // target and its backend
  localparam int SIDE_MASTER = 1;  // master and its backend

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
