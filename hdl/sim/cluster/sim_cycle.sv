// Absolute index of the coming edge, for a clock driven by the Verilator main loop. It is a register of that clock, not
// an input of the design, so that its readers are evaluated with that clock only. It counts; `refresh` is pulsed before
// the first edge after a sleep.
`include "doorway.svh"
module sim_cycle #(
    parameter int CLOCK = 0  // index of the clock in the cluster
) (
    input  logic        clk,
    input  logic        refresh,
    output logic [47:0] cycle
);
  longint index;
  initial cycle = '0;
  always_ff @(posedge clk or posedge refresh) begin
    if (refresh) begin
      index = `SAN(san_next_edge) (CLOCK);
      cycle <= index[47:0];
    end else begin
      cycle <= cycle + 48'd1;
    end
  end
endmodule
