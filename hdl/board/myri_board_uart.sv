// Serial port of a board: 8 data bits, no parity, one stop bit.
//
// Timing: in_valid is a strobe in the clock after the middle of the stop bit. A byte whose stop bit is 0 is dropped with
// in_error, and the next start bit counts only after the line was 1. out_ready falls for the ten bits of a byte.
module myri_board_uart #(
    parameter int DIVISOR = 25  // clocks of a bit, 4 to 65,536
) (
    input logic clk,  // bus clock
    input logic rst,  // synchronous reset
    input logic rxd,  // line from the host, asynchronous
    output logic txd,  // line to the host
    output logic in_valid,  // strobe: a byte has arrived
    output logic [7:0] in_data,  // the byte
    output logic in_error,  // strobe: a byte without a stop bit was dropped
    input logic out_valid,  // a byte is to be sent
    output logic out_ready,  // it is taken at the coming edge
    input logic [7:0] out_data  // the byte
);
  localparam logic [15:0] BIT = 16'(DIVISOR - 1);
  // Two registers pass between the line and `mark_q`, and one clock until the counter starts.
  localparam logic [15:0] TO_MIDDLE = 16'(DIVISOR + DIVISOR / 2 - 2);

  logic
      space,
      space_q;  // the line is 0; inverted, so that a synchroniser in reset reads an idle line
  logic ready_q;  // the line was 1 after the last byte
  logic [3:0] in_left_q;  // bits to receive, stop bit included
  logic [15:0] in_wait_q;
  logic [3:0] out_left_q;  // bits to send, start and stop bit included
  logic [15:0] out_wait_q;
  logic [8:0] out_q;  // bits after the present one
  logic mark_q;  // present bit

  assign out_ready = out_left_q == 4'd0;
  assign txd = mark_q || rst;

  myri_sync #(
      .WIDTH(1)
  ) u_sync (
      .clk(clk),
      .rst(rst),
      .d  (!rxd),
      .q  (space)
  );

  always_ff @(posedge clk) begin
    in_valid <= 1'b0;
    in_error <= 1'b0;
    space_q  <= space;
    if (rst) begin
      in_left_q <= 4'd0;
      in_wait_q <= 16'd0;
      in_data   <= 8'd0;
      space_q   <= 1'b0;
      ready_q   <= 1'b0;
    end else if (in_left_q == 4'd0) begin
      if (!space_q) ready_q <= 1'b1;
      if (space_q && ready_q) begin
        in_left_q <= 4'd9;
        in_wait_q <= TO_MIDDLE;
      end
    end else if (in_wait_q != 16'd0) begin
      in_wait_q <= in_wait_q - 16'd1;
    end else begin
      in_wait_q <= BIT;
      in_left_q <= in_left_q - 4'd1;
      if (in_left_q != 4'd1) begin
        in_data <= {!space_q, in_data[7:1]};
      end else begin
        in_valid <= !space_q;
        in_error <= space_q;
        ready_q  <= !space_q;
      end
    end
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      out_left_q <= 4'd0;
      out_wait_q <= 16'd0;
      out_q      <= '1;
      mark_q     <= 1'b1;
    end else if (out_left_q == 4'd0) begin
      if (out_valid) begin
        out_left_q <= 4'd10;
        out_wait_q <= BIT;
        out_q      <= {1'b1, out_data};
        mark_q     <= 1'b0;
      end
    end else if (out_wait_q != 16'd0) begin
      out_wait_q <= out_wait_q - 16'd1;
    end else begin
      out_left_q <= out_left_q - 4'd1;
      out_wait_q <= BIT;
      out_q      <= {1'b1, out_q[8:1]};
      mark_q     <= out_q[0];
    end
  end
endmodule
