// Splitter of 64-bit PIO beats into 32-bit beats, for a card with a 32-bit memory.
//
// A write becomes the halves with enabled lanes, the lower one first (only the lower one if no lane is enabled). A read
// becomes both halves and joins the two answers.
// Timing: combinational; one clock for each half. Clock gating: state changes only with handshakes.
module myri_beat_split (
    input  logic        clk,            // clock
    input  logic        rst,            // synchronous reset
    input  logic        in_valid,       // beat {read, addr[23:3], be[7:0], data[63:0]}
    output logic        in_ready,       // accepted
    input  logic [93:0] in_data,        // beat
    output logic        rsp_valid,      // read answer
    output logic [63:0] rsp_data,       // byte lanes
    output logic        out_valid,      // beat {read, addr[23:2], be[3:0], data[31:0]}
    input  logic        out_ready,      // accepted
    output logic [58:0] out_data,       // beat
    input  logic        out_rsp_valid,  // answer to the current read
    input  logic [31:0] out_rsp_data    // byte lanes
);
  logic        read;
  logic [20:0] addr;
  logic [ 7:0] be;
  logic [63:0] data;
  logic        low_done_q;  // the lower half of this beat is done
  logic        high;  // the current half
  logic        last;
  logic [31:0] low_q;  // answer of the lower half

  assign {read, addr, be, data} = in_data;
  assign high = low_done_q || (!read && be[3:0] == 4'd0 && be[7:4] != 4'd0);
  assign last = high || (!read && be[7:4] == 4'd0);
  assign out_valid = in_valid;
  assign out_data = {read, addr, high, high ? be[7:4] : be[3:0], high ? data[63:32] : data[31:0]};
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
