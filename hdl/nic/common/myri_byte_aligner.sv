// Byte aligner: moves a run of bytes from one alignment to another, as a stream of 64-bit words in and one out.
//
// The run begins at lane src of the first input word and at lane dst of the first output word. Output word j is made of
// the input words that hold its bytes; lanes outside the run are not enabled.
// Timing: combinational from input to output, one word per clock; the first input word costs one more clock if src >
// dst. `active` falls with the last output word. Clock gating: state changes only with handshakes.
module myri_byte_aligner (
    input logic clk,  // clock
    input logic rst,  // synchronous reset
    input logic start,  // strobe: a new run (only when not active)
    input logic [2:0] src,  // first lane of the input
    input logic [2:0] dst,  // first lane of the output
    input logic [31:0] bytes,  // length of the run, not 0
    input logic in_valid,  // a word is available
    output logic in_want,  // a word is needed
    output logic in_skip,  // with in_want: accepted without an output word; otherwise accepted with out_ready
    input logic [63:0] in_data,  // byte lanes
    output logic [7:0] in_be,  // byte lanes that belong to the run
    output logic out_valid,  // a word is output
    input logic out_ready,  // accepted at the coming edge
    output logic [63:0] out_data,  // byte lanes
    output logic [7:0] out_be,  // byte lanes that belong to the run
    output logic [3:0] out_bytes,  // number of valid bytes
    output logic active,  // a run is unfinished
    output logic busy  // 1 = a further clock edge is needed
);
  logic [ 2:0] shift_q;  // lanes an input word moves up
  logic        in_ready;
  logic [ 2:0] in_at_q;  // first lane of the next input word
  logic [ 2:0] out_at_q;  // first lane of the next output word
  logic [31:0] in_left_q;  // bytes not yet input
  logic [31:0] out_left_q;  // bytes not yet output
  logic [63:0] previous_q;  // last input word accepted
  logic        need;
  logic [63:0] current;
  logic [ 3:0] in_room;
  logic [ 3:0] out_room;
  logic [ 3:0] in_bytes;

  assign need = in_left_q != 32'd0;
  assign current = need ? in_data : 64'd0;
  assign out_data = (current << {shift_q, 3'b000}) | (previous_q >> (7'd64 - {1'b0, shift_q, 3'b000}));
  assign in_room = 4'd8 - {1'b0, in_at_q};
  assign out_room = 4'd8 - {1'b0, out_at_q};
  assign in_bytes = (in_left_q < {28'd0, in_room}) ? in_left_q[3:0] : in_room;
  assign out_bytes = (out_left_q < {28'd0, out_room}) ? out_left_q[3:0] : out_room;
  assign in_be = ~(8'hFF << in_bytes) << in_at_q;
  assign out_be = ~(8'hFF << out_bytes) << out_at_q;
  assign out_valid = active && !in_skip && (!need || in_valid);
  assign in_want = active && need;
  assign in_ready = in_want && (in_skip || out_ready);
  assign busy = start || (out_valid && out_ready) || (in_valid && in_ready);

  always_ff @(posedge clk) begin
    if (rst) begin
      active <= 1'b0;
      in_skip <= 1'b0;
      shift_q <= 3'd0;
      in_at_q <= 3'd0;
      out_at_q <= 3'd0;
      in_left_q <= 32'd0;
      out_left_q <= 32'd0;
      previous_q <= 64'd0;
    end else if (start) begin
      active <= 1'b1;
      in_skip <= src > dst;
      shift_q <= dst - src;
      in_at_q <= src;
      out_at_q <= dst;
      in_left_q <= bytes;
      out_left_q <= bytes;
      previous_q <= 64'd0;
    end else begin
      if (in_valid && in_ready) begin
        in_skip   <= 1'b0;
        in_at_q   <= 3'd0;
        in_left_q <= in_left_q - {28'd0, in_bytes};
      end
      if ((in_valid && in_ready) || (out_valid && out_ready)) previous_q <= current;
      if (out_valid && out_ready) begin
        out_at_q   <= 3'd0;
        out_left_q <= out_left_q - {28'd0, out_bytes};
        if (out_left_q == {28'd0, out_bytes}) active <= 1'b0;
      end
    end
  end
endmodule
