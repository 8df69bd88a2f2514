// Passes the bytes of every packet that leaves a cable to the doorway (hdl/sim/doorway/capture.c): eight characters at
// a time, with the time of the packet's first one, and the rest at its GAP. It only observes.
`include "doorway.svh"
module sim_tap
  import myri_symbol_pkg::*;
#(
    parameter int CABLE = 0  // number of the cable direction
) (
    input logic       clk,
    input logic       rst,
    input logic [8:0] rx    // characters as they arrive, faults included
);
  logic open_q;
  logic [2:0] held_q;
  logic [63:0] bytes_q, next;
  longint began, now;
  assign next = {bytes_q[55:0], rx[7:0]};
  always_ff @(posedge clk) begin
    if (rst) begin
      open_q  <= 1'b0;
      held_q  <= 3'd0;
      bytes_q <= 64'd0;
    end else if (rx[8]) begin
      now = $time;
      if (!open_q) began = now;
      open_q  <= 1'b1;
      held_q  <= held_q + 3'd1;
      bytes_q <= next;
      if (held_q == 3'd7) `SAN(san_capture) (CABLE, 8, next, began, now);
    end else if (open_q && rx == GAP) begin
      now = $time;
      open_q <= 1'b0;
      held_q <= 3'd0;
      `SAN(san_capture) (CABLE, {28'd1, 1'b0, held_q}, bytes_q, began, now);
    end
  end
endmodule
