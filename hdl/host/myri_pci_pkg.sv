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
  typedef enum logic [3:0] {
    PCI_MEM_READ = 4'h6,  // memory read
    PCI_MEM_WRITE = 4'h7,  // memory write
    PCI_CONFIG_READ = 4'hA,  // configuration read
    PCI_CONFIG_WRITE = 4'hB,  // configuration write
    PCI_MEM_READ_MULTIPLE = 4'hC,  // memory read multiple
    PCI_MEM_READ_LINE = 4'hE,  // memory read line
    PCI_MEM_WRITE_INV = 4'hF  // memory write and invalidate (taken as memory write)
  } pci_command_t;

  // Registers of the configuration space, by dword.
  typedef enum logic [5:0] {
    CONFIG_IDENTITY = 6'h00,  // device ID, vendor ID
    CONFIG_COMMAND = 6'h01,  // status, command
    CONFIG_CLASS = 6'h02,  // class code, revision
    CONFIG_LATENCY = 6'h03,  // latency timer, cache line size
    CONFIG_BAR0 = 6'h04,  // base address
    CONFIG_INTERRUPT = 6'h0F  // interrupt pin, interrupt line
  } pci_config_register_t;

  // Streams between the cores and their backends. Data are byte lanes: lane i is the byte at address 8n + i.
  typedef struct packed {
    logic [31:0] addr;  // multiple of 8
    logic [63:0] data;  // byte lanes
    logic [7:0]  be;    // bytes written
  } pci_write_t;  // beat of a write to the target
  typedef struct packed {
    logic [31:0] addr;  // multiple of 8
    logic [7:0] bytes;  // hint: bytes that the master may read from here: 16, 32 or 64
    logic first;  // first request of a read
  } pci_read_t;  // read request of the target
  typedef struct packed {
    logic write;  // 1 = write to the bus
    logic [31:0] addr;  // byte address
    logic [15:0] bytes;  // 1..65535
  } pci_transfer_t;  // command of the master
  typedef struct packed {
    logic done;  // end of a command, without data
    logic error;  // with done: ended by an abort
    logic [63:0] data;  // byte lanes
  } pci_beat_t;  // beat that the master has read, or the end of a command
  typedef struct packed {
    logic [7:0]  opened;  // write bursts begun on the far bus before this read, modulo 256
    logic [63:0] data;    // byte lanes
  } pci_answer_t;  // answer to a read through a bridge
  typedef struct packed {
    logic write;  // 1 = write to the bus
    logic config_cycle;  // 1 = configuration cycle
    logic [6:0] bytes;
    logic [31:0] addr;  // byte address
  } host_command_t;  // command of a host CPU

  // Traces: strobes.
  typedef struct packed {
    logic first;  // first data phase of a transaction moved data
    logic last;  // a transaction that moved data ended
    logic write;  // with both: it writes to this target
    logic retry;  // a transaction was answered with a retry
    logic disconnect;  // this target stopped a transaction after data
  } pci_target_trace_t;
  typedef struct packed {
    logic start;  // FRAME# falls
    logic retry;  // the target answered the first data phase with a retry
    logic disconnect;  // the target stopped a burst
  } pci_master_trace_t;
  typedef struct packed {
    pci_target_trace_t target;
    pci_master_trace_t master;
  } pci_device_trace_t;
  typedef struct packed {
    logic pio_accept;  // CPU access accepted at this edge
    logic pio_start;  // FRAME# of the bridge fell
    logic pio_done;  // CPU transaction finished
    logic pio_error;  // with pio_done: master or target abort
    logic dma_first;  // first data of a transaction to memory
    logic dma_last;  // its end
    logic dma_write;  // with both: it writes memory
    logic retry;  // the bridge answered a transaction with a retry
    logic disconnect;  // the bridge stopped a burst
  } host_bridge_trace_t;
  typedef struct packed {
    logic lost;  // near clock: a posted write or a read ended by an abort on the near bus
    logic far_lost;  // far clock: ... on the far bus
  } pci_bridge_trace_t;
endpackage
/* verilator lint_on UNUSEDPARAM */
