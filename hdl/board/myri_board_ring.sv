// Trace ring: the newest or the oldest records, in block RAM, read word by word.
//
// Timing: one record a clock. A word is valid one clock after its address.
module myri_board_ring
  import myri_board_pkg::*;
#(
    parameter int RING_LOG2 = 10  // records = 2**RING_LOG2
) (
    input logic clk,  // bus clock
    input logic rst,  // synchronous reset
    input logic clear,  // strobe: empty the ring
    input logic record,  // records are kept
    input logic stop,  // a full ring keeps its oldest records, else its newest
    input logic in_valid,  // a record arrives
    input board_record_t in_record,  // the record
    input logic [RING_LOG2-1:0] read_row,  // record to read
    input logic [2:0] read_word,  // its word
    output logic [31:0] read_data,  // the word, one clock later
    output logic [31:0] written  // records since the last clear
);
  logic [191:0] rows[0:(1<<RING_LOG2)-1];
  logic [191:0] row;  // record as words, word 0 lowest
  logic [255:0] row_q;
  logic [2:0] word_q;
  logic store, full;

  assign row = {
    in_record.argument2,
    in_record.argument,
    in_record.packet,
    in_record.lost,
    2'd0,
    in_record.clock,
    in_record.unit,
    in_record.code,
    in_record.cycle
  };
  assign full = (written >> RING_LOG2) != 32'd0;
  assign store = in_valid && record && !(stop && full);
  assign read_data = row_q[{word_q, 5'd0}+:32];
  assign row_q[255:192] = 64'd0;

  always_ff @(posedge clk) begin
    if (rst || clear) written <= 32'd0;
    else if (in_valid && record) written <= written + 32'd1;
  end

  always_ff @(posedge clk) begin
    if (store) rows[written[RING_LOG2-1:0]] <= row;
    row_q[191:0] <= rows[read_row];
    word_q <= read_word;
  end
endmodule
