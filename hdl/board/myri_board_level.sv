// Level of another clock: a synchroniser of two registers.
//
// Timing: q is d two edges earlier.
module myri_board_level (
    input  logic clk,  // clock of the receiving side
    input  logic rst,  // synchronous reset of that side
    input  logic d,    // register of another clock
    output logic q     // the level here
);
  logic first;

  myri_sync #(
      .WIDTH(1)
  ) u_sync (
      .clk(clk),
      .rst(rst),
      .d  (d),
      .q  (first)
  );

  always_ff @(posedge clk) begin
    if (rst) q <= 1'b0;
    else q <= first;
  end
endmodule
