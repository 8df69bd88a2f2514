// Head and tail pointer of one circular queue of the message unit. The entries are in local memory.
//
// The head is the entry that is put next, the tail the entry that is taken next; equal pointers mean an empty queue, so
// a queue of n entries holds n - 1. `put` on a full queue and `take` on an empty queue have no effect.
// Timing: pointers and flags follow one clock after a strobe.
module myri_io_queue (
    input  logic        clk,         // PCI clock
    input  logic        rst,         // synchronous reset
    input  logic [15:0] mask,        // entries - 1; entries are a power of two
    input  logic        clear,       // strobe: empty the queue
    input  logic        put,         // strobe: an entry was written at the head
    input  logic        take,        // strobe: the entry at the tail was read
    input  logic        head_write,  // strobe: the processor sets the head
    input  logic        tail_write,  // strobe: the processor sets the tail
    input  logic [15:0] value,       // pointer that it sets
    output logic [15:0] head,        // entry that is put next
    output logic [15:0] tail,        // entry that is taken next
    output logic        empty,       // no entry to take
    output logic        full         // no room for an entry
);
  logic [15:0] after_head;
  assign after_head = (head + 16'd1) & mask;
  assign empty = head == tail;
  assign full = after_head == tail;
  always_ff @(posedge clk) begin
    if (rst || clear) begin
      head <= '0;
      tail <= '0;
    end else begin
      if (head_write) head <= value & mask;
      else if (put && !full) head <= after_head;
      if (tail_write) tail <= value & mask;
      else if (take && !empty) tail <= (tail + 16'd1) & mask;
    end
  end
endmodule
