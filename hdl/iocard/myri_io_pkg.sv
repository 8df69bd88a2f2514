// Register map of the intelligent I/O card. GENERATED from pymodels/iocard/registers.py by
// `python -m pymodels.iocard.registers --sv`; edit that file, never this one.
package myri_io_pkg;
  /* verilator lint_off UNUSEDPARAM */  // a map is whole; no block uses all of it

  localparam logic [31:0] IO_EMPTY = 32'hFFFFFFFF;

  // Registers: byte offsets.
  localparam logic [7:0] IO_INBOUND_DOORBELL = 8'h20;
  localparam logic [7:0] IO_INBOUND_STATUS = 8'h24;
  localparam logic [7:0] IO_INBOUND_MASK = 8'h28;
  localparam logic [7:0] IO_OUTBOUND_DOORBELL = 8'h2C;
  localparam logic [7:0] IO_OUTBOUND_STATUS = 8'h30;
  localparam logic [7:0] IO_OUTBOUND_MASK = 8'h34;
  localparam logic [7:0] IO_INBOUND_PORT = 8'h40;
  localparam logic [7:0] IO_OUTBOUND_PORT = 8'h44;
  localparam logic [7:0] IO_CONTROL = 8'h50;
  localparam logic [7:0] IO_QUEUES = 8'h54;
  localparam logic [7:0] IO_INBOUND_FREE_HEAD = 8'h60;
  localparam logic [7:0] IO_INBOUND_FREE_TAIL = 8'h64;
  localparam logic [7:0] IO_INBOUND_POST_HEAD = 8'h68;
  localparam logic [7:0] IO_INBOUND_POST_TAIL = 8'h6C;
  localparam logic [7:0] IO_OUTBOUND_POST_HEAD = 8'h70;
  localparam logic [7:0] IO_OUTBOUND_POST_TAIL = 8'h74;
  localparam logic [7:0] IO_OUTBOUND_FREE_HEAD = 8'h78;
  localparam logic [7:0] IO_OUTBOUND_FREE_TAIL = 8'h7C;
  localparam logic [7:0] IO_DMA_DESCRIPTOR = 8'h80;
  localparam logic [7:0] IO_DMA_STATUS = 8'h84;

  // Bit numbers of INBOUND_STATUS.
  localparam int INBOUND_DOORBELL = 2;
  localparam int INBOUND_POST = 4;
  localparam int INBOUND_OVERRUN = 5;
  localparam int INBOUND_DMA_DONE = 6;
  localparam int INBOUND_DMA_ERROR = 7;

  // Bit numbers of OUTBOUND_STATUS.
  localparam int OUTBOUND_DOORBELL = 2;
  localparam int OUTBOUND_POST = 3;

  // Queues in the order of their entries in local memory.
  typedef enum logic [1:0] {
    QUEUE_INBOUND_FREE  = 2'd0,
    QUEUE_INBOUND_POST  = 2'd1,
    QUEUE_OUTBOUND_POST = 2'd2,
    QUEUE_OUTBOUND_FREE = 2'd3
  } io_queue_t;

  // Cause of the last error of the DMA engine.
  typedef enum logic [1:0] {
    DMA_NONE = 2'd0,
    DMA_DESCRIPTOR = 2'd1,
    DMA_ABORT = 2'd2
  } io_dma_cause_t;
endpackage
