// One direction of a cable: a delay of whole characters.
//
// Timing: the receiver samples at edge n + 1 + cfg_delay what the sender drives after edge n; cfg_delay = 0 is a wire.
// Clock gating: busy until a change at `in` has left the line; without changes all places of the line hold the same
// value, and edges may be skipped. `flying` is the same condition for what has entered at an edge; it does not depend
// on `in`.
module myri_cable
  import myri_symbol_pkg::*;
#(
    parameter int MAX_LOG2 = 8  // places in the line = 2**MAX_LOG2, more than any cfg_delay
) (
    input logic clk,  // character clock
    input logic rst,  // synchronous reset, empties the line
    input logic [8:0] in,  // from the sender's tx
    input logic [7:0] cfg_delay,  // delay in characters; static
    output logic [8:0] out,  // to the receiver's rx
    output logic busy,  // 1 = a further clock edge is needed
    output logic flying,  // 1 = a further edge is needed for characters already in the line
    output logic [8:0] delayed  // character that left the line at the last edge; unused with cfg_delay = 0
);
  logic [MAX_LOG2-1:0] place_q;
  logic [MAX_LOG2-1:0] oldest;
  logic [8:0] last_q;  // character that entered at the last edge
  logic wrapped_q;  // every place was written since reset
  logic unused;  // the oldest place has not been written since reset
  logic blank_q;  // such a place was the oldest at the last edge
  logic [8:0] leaving;  // character in the oldest place at the last edge
  logic [7:0] left_q;  // edges until the line holds `last_q` everywhere

  assign oldest = place_q - cfg_delay[MAX_LOG2-1:0] + {{(MAX_LOG2 - 1) {1'b0}}, 1'b1};
  assign unused = !wrapped_q && oldest > place_q;
  assign delayed = blank_q ? IDLE : leaving;
  assign flying = left_q != 8'd0;
  assign busy = cfg_delay != 8'd0 && (flying || in != last_q);
  assign out = (cfg_delay == 8'd0) ? in : delayed;

  always_ff @(posedge clk) begin
    if (rst) begin
      place_q   <= '0;
      last_q    <= IDLE;
      wrapped_q <= 1'b0;
      left_q    <= 8'd0;
      blank_q <= 1'b1;
    end else if (cfg_delay != 8'd0 && (flying || in != last_q)) begin  // busy
      place_q   <= place_q + 1'b1;
      wrapped_q <= wrapped_q || &place_q;
      last_q    <= in;
      blank_q <= unused;
      if (in != last_q) left_q <= cfg_delay;
      else left_q <= left_q - 8'd1;
    end
  end

  // With a delay of 1 the oldest place is the one that is written.
  myri_ram #(
      .WIDTH(9),
      .DEPTH_LOG2(MAX_LOG2)
  ) u_line (
      .clk(clk),
      .write(busy),
      .w_addr(place_q),
      .w_data(in),
      .read(busy),
      .r_addr(oldest),
      .r_data(leaving)
  );
endmodule
