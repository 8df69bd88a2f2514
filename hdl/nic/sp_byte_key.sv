// Packet key for the trace, byte by byte: four bytes at a fixed place of the packet, big-endian.
//
// Timing: `found` in the clock whose beat makes the key known (the tail at the latest); `key` is the
// key with that beat, and stays until the tail has passed. Sleeping: state moves only with `take`.
module sp_byte_key #(
    parameter int AT = 16  // first byte of the key
) (
    input  logic        clk,    // clock of the bytes
    input  logic        rst,    // synchronous reset
    input  logic        take,   // the beat shown now passes at the coming edge
    input  logic        tail,   // it is the tail, without a byte
    input  logic [ 7:0] data,   // the byte
    output logic        found,  // strobe: the key is known with this beat
    output logic [31:0] key     // the key with this beat
);
  logic [31:0] so_far;
  logic [ 5:0] count;  // bytes seen, AT + 4 at most
  logic wanted, all;

  assign all = count == 6'(AT + 4);
  assign wanted = !tail && !all && count >= 6'(AT);
  assign found = take && !all && (tail || count == 6'(AT + 3));
  assign key = wanted ? {so_far[23:0], data} : so_far;

  always_ff @(posedge clk) begin
    if (rst) begin
      so_far <= 32'd0;
      count  <= 6'd0;
    end else if (take && tail) begin
      so_far <= 32'd0;
      count  <= 6'd0;
    end else if (take && !all) begin
      so_far <= key;
      count  <= count + 6'd1;
    end
  end
endmodule
