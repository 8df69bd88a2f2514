// Chunk of the central queue of an SP switch.
package sp_chunk_pkg;
  typedef struct packed {
    logic last;  // last chunk of its packet
    logic [3:0] count;  // bytes, 0 to 8
    logic [63:0] bytes;  // byte i in lane i
  } sp_chunk_t;
  localparam int SP_CHUNK_BITS = 69;  // bits of sp_chunk_t
  localparam int SP_CHUNK_LAST = 68;  // position of its field `last`
endpackage
