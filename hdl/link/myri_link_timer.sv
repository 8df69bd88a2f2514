// Detector of absolute multiples of a period, also after any number of skipped edges.
//
// `due` is combinational from `cycle` and a register with the next multiple; nothing toggles between multiples. Only
// the first edge after a skipped multiple needs the division. The timer never requests a clock edge.
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
