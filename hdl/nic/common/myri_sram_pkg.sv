// The port of a NIC's SRAM: what a requester asks, held until it is granted, and what a read brings in a later clock. The
// grant is a wire of its own, since it follows the requests of the same clock.
//
// A word has 64 bits; of a NIC whose SRAM has words of 32 the lower half of data and lanes counts.
package myri_sram_pkg;
  typedef struct packed {
    logic req;  // request; to the memory: an access in this clock
    logic write;  // 1 = write
    logic [22:0] addr;  // byte address, multiple of a word
    logic [7:0] be;  // lanes written
    logic [63:0] wdata;  // write data, lane i = byte addr + i
  } sram_request_t;
  localparam logic [96:0] SRAM_IDLE = 97'd0;  // no request
  typedef struct packed {
    logic valid;  // data holds the word granted in the clock before
    logic [63:0] data;  // read data
  } sram_read_t;
endpackage
