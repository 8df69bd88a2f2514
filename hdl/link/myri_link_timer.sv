// Detector of the multiples of a period.
//
// With SLEEPS it works after any number of skipped edges: `due` is combinational from `cycle` and a register with the
// next multiple, nothing toggles between multiples, and only the first edge after a skipped multiple needs the division.
// Without, it counts down and `due` is a register; the last edge with rst = 1 has index 0. The timer never requests a
// clock edge.
module myri_link_timer #(
    parameter int WIDTH  = 32,                           // bits of the period
    parameter bit SLEEPS = myri_sleep_pkg::CLOCKS_SLEEP  // the clock may skip edges
) (
    input  logic             clk,     // character clock
    input  logic             rst,     // synchronous reset
    input  logic [     47:0] cycle,   // absolute index of the coming edge
    input  logic [WIDTH-1:0] period,  // characters between multiples, 0 = never; static
    output logic             due      // the coming edge is a multiple of the period
);
  if (SLEEPS) begin : gen_absolute
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
  end else begin : gen_counted
    logic [WIDTH-1:0] left_q;  // edges between the coming one and the multiple at or after it
    logic [WIDTH-1:0] left_d;

    assign left_d = rst || left_q == '0 ? period - 1'b1 : left_q - 1'b1;

    always_ff @(posedge clk) begin
      left_q <= left_d;
      due <= left_d == '0 && period != '0;
    end

    logic unused_ok;
    assign unused_ok = ^cycle;
  end
endmodule
