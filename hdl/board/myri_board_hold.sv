// Reset of a clock domain of the nodes: while the board has not started, or while the host holds the nodes in reset.
//
// Timing: reset follows hold after three edges.
module myri_board_hold (
    input logic clk,  // clock of the domain
    input logic arst_n,  // asynchronous reset of the board, active low
    input logic run,  // register of the bus clock: the host has released the reset
    output logic reset  // synchronous reset, active high
);
  logic start, released;  // the domain's part of the board's reset; run as sampled here
  logic rst_q;

  assign reset = rst_q;

  myri_reset u_reset (
      .clk(clk),
      .any_rst(!arst_n),
      .reset(start)
  );
  myri_sync #(
      .WIDTH(1)
  ) u_sync (
      .clk(clk),
      .rst(start),
      .d  (run),
      .q  (released)
  );

  always_ff @(posedge clk) rst_q <= start || !released;
endmodule
