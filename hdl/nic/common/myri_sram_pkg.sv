// Port of a NIC's SRAM: a request, held until it is granted, and the read data of a later clock. The grant is a wire of
// its own, because it depends on the requests of the same clock.
//
// A word has 64 bits. For a NIC with 32-bit SRAM words, only the lower half of data and lanes is used.
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
