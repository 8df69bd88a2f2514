// Output side of an SP switch: the stream of an input that owns it, or chunks turned into bytes.
//
// Timing: the owner's stream passes combinationally. A chunk is taken into `next` at an edge, from
// there to the serialiser when that is empty or sends its last beat; its first byte is offered
// from that edge on, one byte an edge, the GAP behind the last chunk of a packet.
module sp_switch_output (
    input  logic        clk,      // character clock
    input  logic        rst,      // synchronous reset
    input  logic        direct,   // an input owns this output
    input  logic        d_valid,  // its stream
    input  logic        d_tail,   // this beat is the GAP
    input  logic [ 7:0] d_data,   // the byte
    input  logic        n_load,   // a chunk comes at the coming edge, only if n_ready
    input  logic [68:0] n_chunk,  // see sp_switch_collect
    output logic        n_ready,  // there is room for one
    output logic        s_valid,  // stream to the link
    input  logic        s_ready,  // taken at the coming edge
    output logic        s_tail,   // this beat is the GAP
    output logic [ 7:0] s_data,   // the byte
    output logic        pending,  // chunks are here
    output logic        busy      // another edge is needed
);
  logic        waiting;  // a chunk is in `next`
  logic [68:0] next;
  logic        sending;  // a chunk is in the serialiser
  logic        last;
  logic [ 3:0] left;  // bytes to send
  logic [63:0] bytes;
  logic        fire;
  logic        ending;  // its last beat leaves
  logic        freed;  // the owner's GAP leaves, or there is none
  logic        move;

  assign s_valid = direct ? d_valid : sending;
  assign s_tail = direct ? d_tail : left == 4'd0;
  assign s_data = direct ? d_data : bytes[7:0];
  assign fire = sending && !direct && s_ready;
  assign ending = fire && left == {3'd0, !last};
  assign freed = !direct || (d_valid && d_tail && s_ready);
  assign move = waiting && freed && (!sending || ending);
  assign n_ready = !waiting || move;
  assign pending = waiting || sending;
  assign busy = n_load || move || fire;

  always_ff @(posedge clk) begin
    if (rst) begin
      waiting <= 1'b0;
      sending <= 1'b0;
      last <= 1'b0;
      left <= 4'd0;
    end else begin
      if (n_load) waiting <= 1'b1;
      else if (move) waiting <= 1'b0;
      if (move) begin
        sending <= 1'b1;
        {last, left} <= next[68:64];
      end else begin
        if (ending) sending <= 1'b0;
        if (fire) left <= left - 4'd1;
      end
    end
  end

  always_ff @(posedge clk) begin
    if (n_load) next <= n_chunk;
    if (move) bytes <= next[63:0];
    else if (fire) bytes <= {8'h00, bytes[63:8]};
  end
endmodule
