// Reset bridge of one clock: asserted at once by arst_n, released with the clock.
//
// Timing: reset falls two edges after arst_n rises.
module myri_board_reset (
    input logic clk,  // clock of the domain
    input logic arst_n,  // asynchronous reset, active low
    output logic reset  // synchronous reset, active high
);
  (* keep, async_reg = "true", syn_preserve = 1 *) logic [1:0] rst_q;

  assign reset = rst_q[1];

  always_ff @(posedge clk or negedge arst_n) begin
    if (!arst_n) rst_q <= 2'b11;
    else rst_q <= {rst_q[0], 1'b0};
  end
endmodule
