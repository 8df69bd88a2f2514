// Tells when an absolute multiple of a period is reached, also after a sleep of any length.
//
// `due` is combinational from `cycle` and a register holding the next multiple; nothing toggles
// between multiples. Only the first edge after a sleep over a multiple needs the division, so a
// clock that never sleeps never uses it. The timer never asks to be awake.
module myri_link_timer #(
    parameter int WIDTH = 32  // bits of the period
) (
    input  logic             clk,     // character clock
    input  logic             rst,     // synchronous reset
    input  logic [     47:0] cycle,   // absolute index of the coming edge
    input  logic [WIDTH-1:0] period,  // characters between multiples, 0 = never; static
    output logic             due      // the coming edge is a multiple of the period
);
  logic [47:0] next_at_q;
  logic [47:0] remainder;
  logic        reached;

  assign reached = cycle >= next_at_q && period != '0;

  always_comb begin
    remainder = 48'd0;
    if (reached && cycle != next_at_q)
      remainder = myri_link_pkg::remainder(cycle, {{(48 - WIDTH) {1'b0}}, period});
  end

  assign due = reached && remainder == 48'd0;

  always_ff @(posedge clk) begin
    if (rst) next_at_q <= 48'd0;
    else if (reached) next_at_q <= cycle - remainder + {{(48 - WIDTH) {1'b0}}, period};
  end
endmodule
