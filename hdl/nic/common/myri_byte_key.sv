// Packet key for the trace from single bytes: four bytes of the packet, big-endian.
//
// With AT = -1, as myri_packet_key at one byte per clock: leading bytes with the top bit set are the route and are
// skipped, then the key follows. Otherwise the key has a fixed position. If the packet ends early, the missing bytes
// are zero.
// Timing: `found` strobes in the clock whose beat completes the key (the tail at the latest); `key` includes that beat
// and is stable until the tail has passed. Clock gating: state changes only with `take`.
module myri_byte_key #(
    parameter int AT = -1  // position of the key's first byte, at most 62; -1: first byte after the route
) (
    input  logic        clk,    // clock of the bytes
    input  logic        rst,    // synchronous reset
    input  logic        take,   // the current beat is consumed at the coming edge
    input  logic        tail,   // this beat is the tail, without a byte
    input  logic [ 7:0] data,   // byte
    output logic        found,  // strobe: the key is known with this beat
    output logic [31:0] key     // the key with this beat
);
  logic [31:0] so_far_q;
  logic [ 2:0] count_q;  // bytes found, 0..4
  logic        begins;  // this byte is the first of the key
  logic        wanted;

  if (AT < 0) begin : gen_behind_route
    assign begins = !data[7];
  end else begin : gen_fixed
    logic [5:0] passed_q;  // bytes seen, AT at most
    assign begins = passed_q == 6'(AT);
    always_ff @(posedge clk) begin
      if (rst) passed_q <= 6'd0;
      else if (take && tail) passed_q <= 6'd0;
      else if (take && !begins) passed_q <= passed_q + 6'd1;
    end
  end

  assign wanted = !tail && !count_q[2] && (count_q != 3'd0 || begins);
  assign found  = take && !count_q[2] && (tail || (wanted && count_q == 3'd3));
  assign key    = wanted ? so_far_q | ({data, 24'd0} >> {count_q, 3'b000}) : so_far_q;

  always_ff @(posedge clk) begin
    if (rst) begin
      so_far_q <= 32'd0;
      count_q  <= 3'd0;
    end else if (take && tail) begin
      so_far_q <= 32'd0;
      count_q  <= 3'd0;
    end else if (take && wanted) begin
      so_far_q <= key;
      count_q  <= count_q + 3'd1;
    end
  end
endmodule
