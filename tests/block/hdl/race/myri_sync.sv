// Race model of myri_sync: a bit that changes within a window before the edge of clk is sampled as it was or as it is.
//
// Each bit resolves by itself, by a generator with a fixed seed, so that both simulators draw equal bits.
`timescale 1ns / 1ps
module myri_sync #(
    parameter int WIDTH = 1  // bits
) (
    input  logic             clk,  // clock of the receiving side
    input  logic             rst,  // synchronous reset of that side
    input  logic [WIDTH-1:0] d,    // signal of another clock
    output logic [WIDTH-1:0] q     // first sample
);
  localparam realtime WINDOW = 2.5;  // before the edge in which a change may be missed, ns

  logic [WIDTH-1:0] old;  // d before its last change
  logic [WIDTH-1:0] last;
  logic [WIDTH-1:0] unsure;
  realtime changed;
  logic [31:0] random = 32'h2545_f491;

  initial begin
    old = '0;
    last = '0;
    changed = 0.0;
  end

  always @(d) begin
    old = last;
    last = d;
    changed = $realtime;
  end

  always @(posedge clk) begin
    random = random ^ (random << 13);
    random = random ^ (random >> 17);
    random = random ^ (random << 5);
    unsure = $realtime - changed < WINDOW ? (old ^ d) & random[WIDTH-1:0] : '0;
    q <= rst ? '0 : d ^ unsure;
  end
endmodule
