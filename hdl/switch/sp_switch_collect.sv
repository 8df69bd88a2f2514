// Collector of chunks: joins the bytes of an input's stream in groups of eight for the central queue.
//
// A chunk is complete when the beat after its last byte is known: another byte, or the GAP, which is not part of it.
// The last chunk of a packet therefore has 1 to 8 bytes (none if the packet has none).
// Timing: a complete chunk is offered from the edge on that accepts the beat after it; one byte per edge as long as
// chunks are accepted within eight edges.
module sp_switch_collect
  import sp_chunk_pkg::*;
(
    input  logic            clk,      // character clock
    input  logic            rst,      // synchronous reset
    input  logic            b_valid,  // stream of the input
    output logic            b_ready,  // accepted at the coming edge
    input  logic            b_tail,   // this beat is the GAP
    input  logic      [7:0] b_data,   // byte
    input  logic      [3:0] b_port,   // output of the packet
    output logic            c_valid,  // a chunk is complete
    input  logic            c_take,   // accepted at the coming edge
    output sp_chunk_t       c_chunk,  // the chunk
    output logic      [3:0] c_port,   // output of its packet
    output logic            busy      // 1 = a further clock edge is needed
);
  logic [ 3:0] count_q;  // bytes collected
  logic [63:0] bytes_q;
  logic        fire;
  logic        complete;  // the beat shows that the collected bytes are a chunk

  assign complete = b_tail || count_q[3];
  assign b_ready = !complete || !c_valid || c_take;
  assign fire = b_valid && b_ready;
  assign busy = fire || c_take;

  always_ff @(posedge clk) begin
    if (rst) begin
      count_q <= 4'd0;
      c_valid <= 1'b0;
      c_chunk <= '0;
      c_port  <= 4'd0;
    end else begin
      if (fire) count_q <= b_tail ? 4'd0 : count_q[3] ? 4'd1 : count_q + 4'd1;
      if (fire && complete) begin
        c_valid <= 1'b1;
        c_chunk <= {b_tail, count_q, bytes_q};
        c_port  <= b_port;
      end else if (c_take) c_valid <= 1'b0;
    end
  end

  always_ff @(posedge clk) begin
    if (fire && !b_tail) bytes_q[{count_q[2:0], 3'd0}+:8] <= b_data;
  end
endmodule
