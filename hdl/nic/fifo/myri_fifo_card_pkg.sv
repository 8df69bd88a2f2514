// Register map of the NIC. GENERATED from pymodels/nics/fifo/registers.py by `python -m pymodels.nics.fifo.registers --sv`;
// edit that file, never this one.
package myri_fifo_card_pkg;
  /* verilator lint_off UNUSEDPARAM */  // a map is whole; no block uses all of it

  // Byte offsets within the card's 16 MB PCI region.
  localparam logic [24:0] PCI_MEMORY = 25'h0;
  localparam logic [24:0] PCI_STATUS = 25'h800000;
  localparam logic [24:0] PCI_MODE = 25'h800008;
  localparam logic [24:0] PCI_INTERRUPT = 25'h800010;
  localparam logic [24:0] PCI_ERRORS = 25'h800018;
  localparam logic [24:0] PCI_TX_READY = 25'h800020;
  localparam logic [24:0] PCI_RX_FREE = 25'h800028;
  localparam logic [24:0] PCI_RX_READY = 25'h800030;
  localparam logic [24:0] PCI_RX_NEXT = 25'h800038;
  localparam logic [24:0] PCI_CELL_NEXT = 25'h800040;
  localparam logic [24:0] PCI_DROPPED = 25'h800048;
  localparam logic [24:0] PCI_CELL_OUT = 25'h802000;
  localparam logic [24:0] PCI_CELL_IN = 25'h803000;
  localparam logic [24:0] PCI_END = 25'h1000000;

  // Bit numbers of STATUS.
  localparam int STATUS_ARRIVED = 0;
  localparam int STATUS_IDLE = 1;
  localparam int STATUS_ERROR = 2;
  localparam int STATUS_CELLS = 3;
  localparam int STATUS_SEND_LEVEL = 8;
  localparam int STATUS_RECEIVE_LEVEL = 16;

  // Bit numbers of ERRORS. A rejected access changes nothing else.
  localparam int ERR_TX_FULL = 0;
  localparam int ERR_NUMBER = 1;
  localparam int ERR_DESCRIPTOR = 2;
  localparam int ERR_POOLED = 3;
  localparam int ERR_NEXT = 4;
  localparam int ERR_OUT_FULL = 5;
  localparam int ERR_CELL = 6;
  localparam int ERR_MODE = 7;
  localparam int ERR_PIO = 8;

  // Values of MODE.
  localparam logic [0:0] FORM_BUFFERS = 1'h0;
  localparam logic [0:0] FORM_CELLS = 1'h1;

  // Bits 31:28 of a descriptor.
  localparam logic [3:0] STATE_FREE = 4'h0;
  localparam logic [3:0] STATE_READY = 4'h1;
  localparam logic [3:0] STATE_SENT = 4'h2;

  // Lowest bits of the fields of a descriptor, the first word of its 8 bytes.
  localparam int DESC_BYTES = 0;
  localparam int DESC_SKIP = 16;
  localparam int DESC_OWN = 24;
  localparam int DESC_STATE = 28;

  // Bit numbers of RX_READY.
  localparam int READY_BYTES = 0;
  localparam int READY_NUMBER = 16;
  localparam int READY_LONG = 29;
  localparam int READY_BAD_CRC = 30;
  localparam int READY_VALID = 31;

  // Sizes and counts.
  localparam int SIZE_MEMORY = 262144;
  localparam int SIZE_BUFFERS = 128;
  localparam int SIZE_BUFFER = 2048;
  localparam int SIZE_DESCRIPTOR = 8;
  localparam int SIZE_TX_READY = 32;
  localparam int SIZE_CIRCUITS = 64;
  localparam int SIZE_CIRCUIT = 8;
  localparam int SIZE_SLOT = 64;
  localparam int SIZE_OUT_CELLS = 32;
  localparam int SIZE_OUT_BASE = 4096;
  localparam int SIZE_IN_CELLS = 256;
  localparam int SIZE_IN_BASE = 16384;
  localparam int SIZE_CELL = 53;
  localparam int SIZE_CELL_HEADER = 4;
  localparam int SIZE_CELL_PAYLOAD = 8;
  localparam int SIZE_PAYLOAD = 48;

  // Value added to the check of a cell's header.
  localparam logic [7:0] HEC_COSET = 8'h55;

  // A received packet, and RX_READY.
  typedef struct packed {
    logic bad_crc;
    logic too_long;  // only its first bytes are stored
    logic [11:0] bytes;  // size without its CRC-8
  } fifo_arrival_t;
  typedef struct packed {
    fifo_arrival_t arrival;
    logic [6:0] number;  // number of its buffer
  } fifo_arrived_t;
  typedef struct packed {
    logic valid;
    logic bad_crc;
    logic too_long;
    logic [5:0] reserved;
    logic [6:0] number;
    logic [3:0] spare;
    logic [11:0] bytes;
  } fifo_ready_t;
endpackage
