// Splitter of 64-bit PIO beats into 32-bit beats, for a card with a 32-bit memory.
//
// A write becomes the halves with enabled lanes, the lower one first (only the lower one if no lane is enabled). A read
// becomes both halves and joins the two answers.
// Timing: combinational; one clock for each half. Clock gating: state changes only with handshakes.
module myri_beat_split
  import myri_nic_engines_pkg::*;
(
    input  logic             clk,            // clock
    input  logic             rst,            // synchronous reset
    input  logic             in_valid,       // beat of 64 bits
    output logic             in_ready,       // accepted
    input  pio_beat_t        in_beat,        // beat
    output logic             rsp_valid,      // read answer
    output logic      [63:0] rsp_data,       // byte lanes
    output logic             out_valid,      // beat of 32 bits
    input  logic             out_ready,      // accepted
    output pio_beat_t        out_beat,       // beat
    input  logic             out_rsp_valid,  // answer to the current read
    input  logic      [31:0] out_rsp_data    // byte lanes
);
  logic        low_done_q;  // the lower half of this beat is done
  logic        high;  // the current half
  logic        last;
  logic [31:0] low_q;  // answer of the lower half

  assign high = low_done_q || (!in_beat.read && in_beat.be[3:0] == 4'd0 && in_beat.be[7:4] != 4'd0);
  assign last = high || (!in_beat.read && in_beat.be[7:4] == 4'd0);
  assign out_valid = in_valid;
  assign out_beat.read = in_beat.read;
  assign out_beat.word = {in_beat.word[21:1], high};
  assign out_beat.be = {4'd0, high ? in_beat.be[7:4] : in_beat.be[3:0]};
  assign out_beat.data = {32'd0, high ? in_beat.data[63:32] : in_beat.data[31:0]};
  assign in_ready = out_ready && last;
  assign rsp_valid = out_rsp_valid && high;
  assign rsp_data = {out_rsp_data, low_q};

  always_ff @(posedge clk) begin
    if (rst) begin
      low_done_q <= 1'b0;
      low_q <= 32'd0;
    end else if (in_valid && out_ready) begin
      low_done_q <= !last;
      if (out_rsp_valid) low_q <= out_rsp_data;
    end
  end
endmodule
