// FIFO of cells in the card's memory: address of the next free place and of the oldest cell.
//
// Timing: `level` and both addresses change at the edge of `put` and `take`. State changes with those only.
module myri_fifo_card_ring
  import myri_fifo_card_pkg::*;
#(
    parameter int SLOTS_LOG2 = 5,  // cells = 2**SLOTS_LOG2
    parameter int BASE = 0  // byte address in memory, a multiple of their size
) (
    input logic clk,  // NIC clock
    input logic rst,  // synchronous reset, empties the FIFO
    input logic put,  // strobe: a cell is stored; not with `full`
    input logic take,  // strobe: remove the oldest cell; not at level 0
    output logic [22:0] tail,  // byte address of the next place
    output logic [22:0] head,  // byte address of the oldest cell
    output logic full,  // no place is free
    output logic [SLOTS_LOG2:0] level  // cells held
);
  localparam int SLOT_LOG2 = $clog2(SIZE_SLOT);
  logic [SLOTS_LOG2-1:0] w_slot_q, r_slot_q;

  assign tail = 23'(BASE) | {{(23 - SLOTS_LOG2 - SLOT_LOG2) {1'b0}}, w_slot_q, {SLOT_LOG2{1'b0}}};
  assign head = 23'(BASE) | {{(23 - SLOTS_LOG2 - SLOT_LOG2) {1'b0}}, r_slot_q, {SLOT_LOG2{1'b0}}};
  assign full = level[SLOTS_LOG2];

  always_ff @(posedge clk) begin
    if (rst) begin
      {w_slot_q, r_slot_q, level} <= '0;
    end else begin
      if (put) w_slot_q <= w_slot_q + 1'b1;
      if (take) r_slot_q <= r_slot_q + 1'b1;
      if (put && !take) level <= level + 1'b1;
      else if (take && !put) level <= level - 1'b1;
    end
  end
endmodule
