// Read positions of the two incoming queues, which messages enter alternately.
//
// Ring rule: a message begins below the limit; the next one begins after its end, or at 0. front = back means empty.
// Timing: a step takes effect one clock later.
module myri_card_queues (
    input  logic        clk,    // fabric clock
    input  logic        rst,    // synchronous reset
    input  logic [23:0] back0,  // see CardReg
    input  logic [23:0] back1,  // see CardReg
    input  logic [23:0] limit,  // see CardReg
    input  logic [15:0] count,  // words of the payload of the message at the front
    input  logic        step,   // strobe: advance to the next message
    output logic        turn,   // the queue to be read next
    output logic [23:0] front,  // byte offset of its first message
    output logic        there,  // there is a message
    output logic [23:0] next    // byte offset of the message after it
);
  logic [23:0] front0_q, front1_q, end_of;
  assign front  = turn ? front1_q : front0_q;
  assign there  = front != (turn ? back1 : back0);
  assign end_of = front + 24'd32 + {5'd0, 16'((count + 16'd1) >> 1), 3'd0};
  assign next   = end_of < limit ? end_of : '0;

  always_ff @(posedge clk) begin
    if (rst) begin
      front0_q <= '0;
      front1_q <= '0;
      turn <= 1'b0;
    end else if (step) begin
      if (turn) front1_q <= next;
      else front0_q <= next;
      turn <= !turn;
    end
  end
endmodule
