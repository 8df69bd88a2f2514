// Run-time settings, read from the doorway while the clock is in reset and constant afterwards: COUNT keys from KEY on,
// the first in the lowest bits.
`include "doorway.svh"
module sim_setting #(
    parameter int UNIT  = 0,  // settings unit
    parameter int KEY   = 0,  // first key, of sim_settings_pkg
    parameter int COUNT = 1,  // keys
    parameter int WIDTH = 32  // bits of each value
) (
    input  logic                   clk,
    input  logic                   rst,
    output logic [WIDTH*COUNT-1:0] value
);
  int word;
  always_ff @(posedge clk) begin
    if (rst) begin
      for (int i = 0; i < COUNT; i++) begin
        word = `SAN(san_cfg) (UNIT, KEY + i);
        value[WIDTH*i+:WIDTH] <= word[WIDTH-1:0];
      end
    end
  end
endmodule
