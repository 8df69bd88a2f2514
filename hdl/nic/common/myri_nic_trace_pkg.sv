// What is seen of a NIC: of each engine what the trace tells, and what must not happen. One bundle a clock.
//
// Packets: `_key` is the packet key (first four bytes after the route, big-endian), `_ago` the edges that passed since
// the moment itself, 0 = this edge.
package myri_nic_trace_pkg;
  typedef struct packed {
    logic tx_start;  // a packet was started ...
    logic [31:0] tx_start_ago;  // ... so many edges ago
    logic [31:0] tx_start_key;  // packet key
    logic tx_read;  // its last byte went to the link side
    logic [31:0] tx_read_key;  // packet key
    logic [31:0] tx_read_bytes;  // its bytes, route included
  } send_trace_t;
  typedef struct packed {
    logic rx_first;  // the first word of a packet is stored (HEAD)
    logic [31:0] rx_first_key;  // packet key
    logic rx_done;  // its tail is stored (RECV)
    logic [31:0] rx_done_key;  // packet key
    logic [31:0] rx_done_bytes;  // bytes stored, syndrome included
    logic [7:0] rx_done_syndrome;  // CRC-8 syndrome, 0 = good
  } recv_trace_t;
  typedef struct packed {
    logic dma_start;  // a DMA block starts to move
    logic dma_done;  // a DMA block is done
    logic [1:0] dma_chain;  // its chain, with both
    logic dma_e2l;  // its direction, 1 = host to SRAM
    logic [31:0] dma_bytes;  // its length
    logic [22:0] dma_lar;  // its SRAM address; SP: number of the command
  } dma_trace_t;
  typedef struct packed {
    logic pio_write;  // a write of the host has landed ...
    logic [23:0] pio_addr;  // ... at this offset of the card's region
    logic doorbell;  // a doorbell entry is stored
    logic [31:0] doorbell_addr;  // its address, also with doorbell_overflow
    logic [31:0] doorbell_data;  // its data, likewise
  } pio_trace_t;
  // Of the link clock.
  typedef struct packed {
    logic tx_head;  // first byte of a packet went out tx_ago edges ago
    logic tx_tail;  // its GAP went out
    logic [31:0] tx_key;  // packet key, with both
    logic [31:0] tx_ago;  // with tx_head
    logic rx_head;  // first byte of a packet came rx_ago edges ago
    logic rx_tail;  // its GAP came
    logic [31:0] rx_key;  // packet key, with both
    logic [31:0] rx_ago;  // with rx_head
    logic [31:0] rx_bytes;  // with rx_tail: bytes, CRC character included
    logic [7:0] rx_syndrome;  // with rx_tail: CRC-8 syndrome
    logic rx_overrun;  // strobe: slack overflow, a character was lost
    logic crc_bad;  // strobe, with rx_tail
    logic illegal;  // strobe: unknown control character
    logic forward_reset;  // strobe: the packet sent was cut
    logic link_stopped;  // level: STOP of the peer in force
    logic link_stopping;  // level: our STOP in force
    logic beat_missed;  // level: the last BEAT due did not come
    logic link_down;  // level: three BEATs in a row did not come
    logic [7:0] fill;  // slack fill
  } link_trace_t;
  // Strobes of the NIC clock: what the host or the firmware did wrong, or lost.
  typedef struct packed {
    logic dma_error;  // a chain stopped by an error
    logic doorbell_overflow;  // a doorbell entry was dropped
    logic rx_lost;  // a packet was dropped or cut here
    logic send_misuse;  // a write of the send registers was ignored
    logic pio_misuse;  // a register write of the host was ignored
  } nic_status_t;
endpackage
