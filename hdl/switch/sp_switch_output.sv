// Output side of an SP switch: the stream of its owning input, or chunks turned into bytes.
//
// Timing: the owner's stream passes combinationally. A chunk enters `next_q` at an edge, and the serialiser when that
// is empty or sends its last beat. Its first byte is offered from that edge on, one byte per edge, the GAP after the
// last chunk of a packet.
module sp_switch_output
  import sp_chunk_pkg::*;
(
    input  logic            clk,      // character clock
    input  logic            rst,      // synchronous reset
    input  logic            direct,   // an input owns this output
    input  logic            d_valid,  // stream of that input
    input  logic            d_tail,   // this beat is the GAP
    input  logic      [7:0] d_data,   // byte
    input  logic            n_load,   // a chunk arrives at the coming edge, only if n_ready
    input  sp_chunk_t       n_chunk,  // the chunk
    output logic            n_ready,  // a chunk can be accepted
    output logic            s_valid,  // stream to the link
    input  logic            s_ready,  // accepted at the coming edge
    output logic            s_tail,   // this beat is the GAP
    output logic      [7:0] s_data,   // byte
    output logic            pending,  // chunks are stored
    output logic            busy      // 1 = a further clock edge is needed
);
  logic             waiting_q;  // a chunk is in `next_q`
  sp_chunk_t        next_q;
  logic             sending_q;  // a chunk is in the serialiser
  logic             last_q;
  logic      [ 3:0] left_q;  // bytes to send
  logic      [63:0] bytes_q;
  logic             fire;
  logic             ending;  // its last beat leaves
  logic             freed;  // the owner's GAP is sent, or there is no owner
  logic             move;

  assign s_valid = direct ? d_valid : sending_q;
  assign s_tail = direct ? d_tail : left_q == 4'd0;
  assign s_data = direct ? d_data : bytes_q[7:0];
  assign fire = sending_q && !direct && s_ready;
  assign ending = fire && left_q == {3'd0, !last_q};
  assign freed = !direct || (d_valid && d_tail && s_ready);
  assign move = waiting_q && freed && (!sending_q || ending);
  assign n_ready = !waiting_q || move;
  assign pending = waiting_q || sending_q;
  assign busy = n_load || move || fire;

  always_ff @(posedge clk) begin
    if (rst) begin
      waiting_q <= 1'b0;
      sending_q <= 1'b0;
      last_q <= 1'b0;
      left_q <= 4'd0;
    end else begin
      if (n_load) waiting_q <= 1'b1;
      else if (move) waiting_q <= 1'b0;
      if (move) begin
        sending_q <= 1'b1;
        {last_q, left_q} <= {next_q.last, next_q.count};
      end else begin
        if (ending) sending_q <= 1'b0;
        if (fire) left_q <= left_q - 4'd1;
      end
    end
  end

  always_ff @(posedge clk) begin
    if (n_load) next_q <= n_chunk;
    if (move) bytes_q <= next_q.bytes;
    else if (fire) bytes_q <= {8'h00, bytes_q[63:8]};
  end
endmodule
