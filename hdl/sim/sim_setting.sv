// One run-time setting, read from the doorway while the clock is in reset and constant afterwards.
`include "doorway.svh"
module sim_setting #(
    parameter int UNIT  = 0,  // settings unit
    parameter int KEY   = 0,  // key of sim_settings_pkg
    parameter int WIDTH = 32  // bits of the value
) (
    input  logic             clk,
    input  logic             rst,
    output logic [WIDTH-1:0] value
);
  int word;
  always_ff @(posedge clk) begin
    if (rst) begin
      word = `SAN(san_cfg)(UNIT, KEY);
      value <= word[WIDTH-1:0];
    end
  end
endmodule
