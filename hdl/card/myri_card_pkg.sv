// Register map of the FPGA card. GENERATED from pymodels/card/registers.py by
// `python -m pymodels.card.registers --sv`; edit that file, never this one.
package myri_card_pkg;
  /* verilator lint_off UNUSEDPARAM */  // a map is whole; no block uses all of it

  localparam int CARD_SLOTS = 4;
  localparam int CARD_CIRCUITS = 16;
  localparam logic [1:0] CARD_DEVICE = 2'd2;  // lowest bits of a card's endpoint
  localparam int CARD_CONFIG_PIECE = 128;

  // Images.
  localparam logic [31:0] CARD_IMAGE_MAGIC = 32'h46504741;
  localparam logic [7:0] CARD_IMAGE_VERSION = 8'd1;
  localparam logic [7:0] CARD_IMAGE_PART = 8'd1;
  localparam logic [2:0] CARD_IMAGE_HEADER_WORDS = 3'd5;
  localparam logic [7:0] CARD_WHOLE_DEVICE = 8'hFF;

  // Registers: byte offsets.
  localparam logic [7:0] CARD_BACK0 = 8'h00;
  localparam logic [7:0] CARD_BACK1 = 8'h04;
  localparam logic [7:0] CARD_LIMIT = 8'h08;
  localparam logic [7:0] CARD_SELF = 8'h0C;
  localparam logic [7:0] CARD_RUN = 8'h10;
  localparam logic [7:0] CARD_CLOCK = 8'h14;
  localparam logic [7:0] CARD_IMAGE = 8'h18;
  localparam logic [7:0] CARD_CONFIG = 8'h1C;
  localparam logic [7:0] CARD_OWN = 8'h20;
  localparam logic [7:0] CARD_CONTROL = 8'h24;
  localparam logic [7:0] CARD_STATUS = 8'h28;
  localparam logic [7:0] CARD_CONTROL_HANDLER = 8'h2C;
  localparam logic [7:0] CARD_ERROR_HANDLER = 8'h30;
  localparam logic [7:0] CARD_NIC_QUEUE = 8'h34;
  localparam logic [7:0] CARD_NIC_LIMIT = 8'h38;
  localparam logic [7:0] CARD_NIC_BACK = 8'h3C;
  localparam logic [7:0] CARD_NIC_FRONT = 8'h40;
  localparam logic [7:0] CARD_NIC_READ0 = 8'h44;
  localparam logic [7:0] CARD_NIC_READ1 = 8'h48;
  localparam logic [7:0] CARD_DMA_SOURCE = 8'h4C;
  localparam logic [7:0] CARD_DMA_TARGET = 8'h50;
  localparam logic [7:0] CARD_DMA_BYTES = 8'h54;
  localparam logic [7:0] CARD_MESSAGES = 8'h58;
  localparam logic [7:0] CARD_RESULTS = 8'h5C;
  localparam logic [7:0] CARD_REFUSED = 8'h60;
  localparam logic [7:0] CARD_CONFIG_BYTES = 8'h64;
  localparam logic [7:0] CARD_HANDLER = 8'h80;

  // Status words.
  typedef enum logic [2:0] {
    STATUS_RUN = 3'd0,
    STATUS_IMAGE = 3'd1,
    STATUS_MESSAGES = 3'd2,
    STATUS_RESULTS = 3'd3,
    STATUS_REFUSED = 3'd4,
    STATUS_MAILBOX = 3'd5,
    STATUS_CONTROL_READ = 3'd6
  } card_status_t;

  // Commands of the control mailbox.
  typedef enum logic [7:0] {
    COMMAND_RESUME = 8'd0,
    COMMAND_PAUSE  = 8'd1
  } card_command_t;

  // Commands of the configuration port.
  typedef enum logic [1:0] {
    CONFIGURE_START = 2'd1,
    CONFIGURE_END   = 2'd2,
    CONFIGURE_CLEAR = 2'd3
  } card_configure_t;

  // Outcomes of loading an image.
  typedef enum logic [3:0] {
    LOAD_NONE = 4'd0,
    LOAD_RUNNING = 4'd1,
    LOAD_DONE = 4'd2,
    LOAD_NO_IMAGE = 4'd3,
    LOAD_DAMAGED_HEADER = 4'd4,
    LOAD_OTHER_CARD = 4'd5,
    LOAD_OTHER_CIRCUITS = 4'd6,
    LOAD_NO_PLACE = 4'd7,
    LOAD_NO_SHELL = 4'd8,
    LOAD_TRUNCATED = 4'd9,
    LOAD_DAMAGED = 4'd10
  } card_load_t;

  // Classification of a message.
  typedef enum logic [2:0] {
    PURPOSE_CIRCUIT = 3'd0,
    PURPOSE_TABLE = 3'd1,
    PURPOSE_REFUSAL = 3'd2,
    PURPOSE_NO_ENTRY = 3'd3,
    PURPOSE_TOO_LONG = 3'd4
  } card_purpose_t;

  // Modes of a forwarding entry.
  typedef enum logic [2:0] {
    FORWARD_NOWHERE = 3'd0,
    FORWARD_ENDPOINT = 3'd1,
    FORWARD_REPLY = 3'd2,
    FORWARD_TREE = 3'd3,
    FORWARD_WRITE = 3'd4,
    FORWARD_FETCH = 3'd5
  } card_forward_t;

  // Jobs of the uplink.
  typedef enum logic [1:0] {
    JOB_RESULT = 2'd0,
    JOB_READ0  = 2'd1,
    JOB_READ1  = 2'd2,
    JOB_FIRST  = 2'd3
  } card_job_kind_t;

  // Causes of an error.
  localparam int CARD_UNKNOWN_CIRCUIT = 1;
  localparam int CARD_UNKNOWN_ENTRY = 2;
  localparam int CARD_TOO_LONG = 3;

  // Types of messages.
  localparam logic [5:0] MESSAGE_ACTIVE = 6'h01;
  localparam logic [5:0] MESSAGE_SEGMENT = 6'h02;
  localparam logic [5:0] MESSAGE_RM_V = 6'h04;
  localparam logic [5:0] MESSAGE_RM_RV = 6'h06;
  localparam logic [5:0] MESSAGE_MULTICAST = 6'h08;
  localparam logic [5:0] MESSAGE_MULTICAST_SEGMENT = 6'h09;
  localparam logic [5:0] MESSAGE_MULTICAST_LAST = 6'h0A;
  localparam logic [5:0] MESSAGE_FORWARDED = 6'h0C;
  localparam logic [5:0] MESSAGE_CARD_SEGMENT = 6'h0F;

  // Change of slots, by the configuration port: data of a write of IMAGE to the fabric.
  typedef struct packed {
    logic device;  // the shell, too
    logic [3:0] slots;  // one bit each
    logic [7:0] image;  // number; 0 = empty
  } card_change_t;

  // Write of a register of the fabric.
  typedef struct packed {
    logic [7:0]  addr;  // offset of the register
    logic [31:0] data;
  } card_write_t;

  // Status word of the fabric.
  typedef struct packed {
    card_status_t index;
    logic [31:0]  value;
  } card_report_t;

  // Header of a message: its first four words, the first one in the lowest bits.
  typedef struct packed {
    logic [7:0] channel;  // of the source
    logic [7:0] to_channel;  // of the destination
    logic [15:0] handler;
    logic [15:0] words;  // of the payload
    logic [15:0] destination;  // endpoint
    logic [5:0] kind;  // message type
    logic [1:0] correction;  // bytes that the last word lacks
    logic [7:0] tree;  // multicast tree, or place in a long message: {-, more 1, continues 1}
    logic [15:0] source;  // endpoint
    logic [31:0] first;  // word of the NIC
  } card_header_t;

  // First word of a forwarding entry.
  typedef struct packed {
    card_forward_t mode;
    logic [4:0] tree;  // multicast tree, with FORWARD_TREE
    logic [7:0] channel;  // of the endpoint
    logic [15:0] endpoint;
  } card_place_t;

  // Trace of the shell.
  typedef struct packed {
    logic take;  // strobe: a message is given to its circuit
    logic give;  // strobe: the message's result is written
    logic [31:0] key;  // first word of the message, with both
  } card_shell_trace_t;

  // Trace of the card.
  typedef struct packed {
    logic first;  // strobe: first data of a transaction to this card
    logic last;  // strobe: its end
    logic [3:0] patience;  // strobes: an access of a bank has exceeded cfg.patience
    logic mailbox;  // strobe: a write of the control mailbox has exceeded cfg.patience
    logic trespass;  // level, fabric clock: a circuit uses bank 3 without a grant
    card_shell_trace_t shell;  // fabric clock
    logic in_flight;  // level: a job or a transfer is unfinished
  } card_trace_t;

  // Job of the shell for the uplink.
  typedef struct packed {
    card_job_kind_t kind;
    logic [23:0] value;  // offset of a read pointer; for a result, its bytes, multiple of 8
  } card_job_t;
endpackage
