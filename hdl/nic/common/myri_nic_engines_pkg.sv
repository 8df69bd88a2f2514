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

  // Streams between the parts. Data are byte lanes: lane i is the byte at address 8n + i (4n + i with 32 bits).
  typedef struct packed {
    logic read;  // 1 = read, 0 = write
    logic [21:0] word;  // number of the beat's first 32-bit word in the card's region
    logic [7:0] be;  // bytes written
    logic [63:0] data;  // byte lanes; with 32 bits the lower half
  } pio_beat_t;  // access of the host to the card
  typedef struct packed {
    logic crc_en;  // with tail: append CRC-8
    logic cut;  // with tail: append an inverted CRC-8
    logic tail;  // last entry of a packet
    logic [2:0] first;  // first lane that is sent
    logic [3:0] last;  // lane after the last one
  } send_head_t;  // entry of the link's send side, apart from its word
  typedef struct packed {
    logic tail;  // last entry of a packet
    logic [3:0] count;  // bytes, from lane 0 on
    logic [7:0] syndrome;  // with tail: CRC-8 syndrome, 0 = good
  } recv_head_t;  // entry of the link's receive side, apart from its word
  typedef struct packed {
    logic down;  // three successive BEATs did not arrive
    logic missed;  // a due BEAT did not arrive
    logic beat;  // a BEAT arrived
    logic forward_reset;  // the packet sent was cut
    logic illegal;  // unknown control character
    logic sent;  // a packet's GAP was sent
  } link_event_t;  // strobes

  // Special registers of a LANai.
  typedef struct packed {
    logic valid;  // access in this clock
    logic write;  // 1 = write
    logic [8:0] addr;  // offset
    logic [31:0] wdata;  // write data
  } reg_request_t;  // access; read data follow in the same clock
endpackage
