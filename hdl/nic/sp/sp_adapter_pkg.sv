// Register map of the NIC. GENERATED from pymodels/nics/sp/registers.py by `python -m pymodels.nics.sp.registers --sv`;
// edit that file, never this one.
package sp_adapter_pkg;
  /* verilator lint_off UNUSEDPARAM */  // a map is whole; no block uses all of it

  // Registers of the SP adapter: byte offsets as its processor sees them.
  localparam logic [8:0] REG_STATUS = 9'h0;
  localparam logic [8:0] REG_ACK = 9'h4;
  localparam logic [8:0] REG_INTERRUPT = 9'h8;
  localparam logic [8:0] REG_ERRORS = 9'hC;
  localparam logic [8:0] REG_TIME = 9'h10;
  localparam logic [8:0] REG_TIMER = 9'h14;
  localparam logic [8:0] REG_COMMAND_HIGH = 9'h20;
  localparam logic [8:0] REG_COMMAND_LOW = 9'h24;
  localparam logic [8:0] REG_DATA_HIGH = 9'h28;
  localparam logic [8:0] REG_DATA_LOW = 9'h2C;
  localparam logic [8:0] REG_DATA_ONE = 9'h30;
  localparam logic [8:0] REG_RECV_NEXT = 9'h34;
  localparam logic [8:0] REG_RECV_STATUS = 9'h38;
  localparam logic [8:0] REG_SEND_START = 9'h3C;
  localparam logic [8:0] REG_SEND0 = 9'h40;
  localparam logic [8:0] REG_SEND1 = 9'h44;
  localparam logic [8:0] REG_SEND2 = 9'h48;
  localparam logic [8:0] REG_SEND3 = 9'h4C;
  localparam logic [8:0] REG_SEND4 = 9'h50;
  localparam logic [8:0] REG_SEND5 = 9'h54;
  localparam logic [8:0] REG_RECV0 = 9'h60;
  localparam logic [8:0] REG_RECV1 = 9'h64;
  localparam logic [8:0] REG_RECV2 = 9'h68;
  localparam logic [8:0] REG_RECV3 = 9'h6C;
  localparam logic [8:0] REG_RECV4 = 9'h70;
  localparam logic [8:0] REG_RECV5 = 9'h74;
  localparam logic [8:0] REG_RECV6 = 9'h78;
  localparam logic [8:0] REG_RECV7 = 9'h7C;
  localparam logic [8:0] REG_BELL_PRODUCER = 9'h80;
  localparam logic [8:0] REG_BELL_CONSUMER = 9'h84;
  localparam logic [8:0] REG_BELL_BASE = 9'h88;
  localparam logic [8:0] REG_BELL_OVERFLOWS = 9'h8C;
  localparam logic [8:0] REG_READ0 = 9'h100;
  localparam logic [8:0] REG_OWN0 = 9'h180;

  // Bit numbers of STATUS; the last three are counters of 8 bits.
  localparam int STATUS_ARRIVED = 0;
  localparam int STATUS_SEND_FREE = 1;
  localparam int STATUS_ROOM = 2;
  localparam int STATUS_LEFT_IDLE = 3;
  localparam int STATUS_BELL = 4;
  localparam int STATUS_TIME = 5;
  localparam int STATUS_ERROR = 6;
  localparam int STATUS_READ = 7;
  localparam int STATUS_FETCHED = 8;
  localparam int STATUS_STORED = 16;
  localparam int STATUS_SENT = 24;

  // Bit numbers of ERRORS.
  localparam int ERR_SEND_MISUSE = 0;
  localparam int ERR_QUEUE_OVERFLOW = 1;
  localparam int ERR_PACKET_MISUSE = 2;
  localparam int ERR_BUS = 3;
  localparam int ERR_BELL_OVERFLOW = 4;
  localparam int ERR_PIO_MISUSE = 5;

  // Bit numbers of the first word of a command; the byte count is in 15:0.
  localparam int COMMAND_FETCH = 28;
  localparam int COMMAND_PACKET = 29;
  localparam int COMMAND_READ = 30;
  localparam int COMMAND_ALARM = 31;

  // Bit numbers of RECV_STATUS; the count of user bytes is in 11:0.
  localparam int RECV_BAD_CRC = 16;
  localparam int RECV_BAD_SIZE = 17;

  // Byte offsets within the adapter's 16 MB PCI region.
  localparam logic [24:0] PCI_SRAM = 25'h0;
  localparam logic [24:0] PCI_CONTROL = 25'h800040;
  localparam logic [24:0] PCI_DOORBELL = 25'h808000;
  localparam logic [24:0] PCI_END = 25'h1000000;

  // Bit numbers of the control register, a big-endian word.
  localparam int CTL_INTERRUPT = 0;

  // Sizes and counts.
  localparam int SIZE_FIFO = 4096;
  localparam int SIZE_QUEUE = 32;
  localparam int SIZE_QUEUE_ROOM = 12;
  localparam int SIZE_PACKETS = 2;
  localparam int SIZE_HEADERS = 24;
  localparam int SIZE_USER = 2032;
  localparam int SIZE_INLINE = 64;
  localparam int SIZE_READ = 128;
  localparam int SIZE_BELL_ENTRIES = 512;

  // Run-time settings that only this NIC has (ports cfg_* of sp_adapter): keys of the doorway's table.
  localparam int SET_BUS_BEAT = 96;
  localparam int SET_BUS_ACCESS = 97;
  localparam int SET_DOORBELL = 98;

  // A command: both words.
  typedef struct packed {
    logic alarm;
    logic read;
    logic packet;
    logic fetch;
    logic [11:0] reserved;
    logic [15:0] bytes;
    logic [31:0] address;  // in the host
  } sp_command_t;

  // SEND_START: user bytes from OWN0 on, or from the Send FIFO.
  typedef struct packed {
    logic [8:0]  reserved;
    logic [6:0]  own;
    logic [3:0]  spare;
    logic [11:0] fifo;
  } sp_start_t;

  // RECV_STATUS.
  typedef struct packed {
    logic [13:0] reserved;
    logic bad_size;
    logic bad_crc;
    logic [3:0] spare;
    logic [11:0] bytes;  // user bytes
  } sp_recv_status_t;

  // An insertion into the command queue.
  typedef enum logic [1:0] {
    INSERT_COMMAND = 2'd0,
    INSERT_DATA = 2'd1,
    INSERT_NEXT = 2'd2
  } sp_insertion_kind_t;
  typedef struct packed {
    sp_insertion_kind_t kind;
    logic [63:0] data;  // command, or byte lanes
  } sp_insertion_t;
endpackage
