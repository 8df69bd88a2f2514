// Race model of myri_reset: if `any_rst` falls within a window before the edge of clk, each register of the bridge takes
// that edge or misses it.
//
// Registers resolve by themselves, by a generator with a fixed seed, so that both simulators draw equal bits. A register
// whose input is 1 cannot change at the edge, so only the first one can resolve either way.
`timescale 1ns / 1ps
module myri_reset #(
    parameter int STAGES = 2  // registers in a row
) (
    input  logic clk,      // clock of the domain
    input  logic any_rst,  // reset of any clock
    output logic reset     // reset of the domain
);
  localparam realtime WINDOW = 2.5;  // before the edge in which the release may be missed, ns

  logic [STAGES-1:0] bridge_q;
  logic [STAGES-1:0] shifted;
  logic [STAGES-1:0] missed;
  realtime released;
  logic [31:0] random = 32'h2545_f491;

  initial released = 0.0;
  assign reset = bridge_q[STAGES-1];
  assign shifted = {bridge_q[STAGES-2:0], 1'b0};

  always @(negedge any_rst) released = $realtime;

  always @(posedge clk or posedge any_rst) begin
    if (any_rst) begin
      bridge_q <= '1;
    end else begin
      random = random ^ (random << 13);
      random = random ^ (random >> 17);
      random = random ^ (random << 5);
      missed = $realtime - released < WINDOW ? random[STAGES-1:0] : '0;
      bridge_q <= (missed & bridge_q) | (~missed & shifted);
    end
  end
endmodule
