// Cable of a board's cluster, in one direction: its delay in characters, and the register of the receiving end.
module myri_board_cable
  import myri_symbol_pkg::*;
(
    input logic clk,  // link clock
    input logic rst,  // synchronous reset
    input logic [7:0] cfg_delay,  // characters before the register; static
    input logic [8:0] tx,  // characters of the sender
    output logic [8:0] rx  // characters at the receiver
);
  logic [8:0] arrived;

  myri_cable u_cable (
      .clk(clk),
      .rst(rst),
      .in(tx),
      .cfg_delay(cfg_delay),
      .out(arrived),
      .busy(),
      .flying(),
      .delayed()
  );

  always_ff @(posedge clk) begin
    if (rst) rx <= IDLE;
    else rx <= arrived;
  end
endmodule
