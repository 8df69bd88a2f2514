// Samples of wires for a monitor in Python: reports the wires at each edge at which they have changed. It only observes,
// and needs the edge after each change. A monitor of more than 128 wires has several lanes, each with its own samples.
`include "doorway.svh"
module sim_monitor #(
    parameter int UNIT  = 0,  // unit number of the samples, see pymodels/trace.py
    parameter int LANES = 1   // groups of 128 wires
) (
    input logic clk,
    input logic rst,
    input logic [128*LANES-1:0] wires,  // lane 0 in the lowest bits
    input logic ends,  // 1 = a transaction may end with these wires
    output logic busy  // 1 = a further clock edge is needed
);
  logic [LANES-1:0] lane_busy;
  assign busy = lane_busy != '0;
  for (genvar lane = 0; lane < LANES; lane++) begin : gen_lane
    logic [127:0] seen_q;
    longint now, low, high;
    assign lane_busy[lane] = wires[128*lane+:128] != seen_q;
    always_ff @(posedge clk) begin
      seen_q <= rst ? '0 : wires[128*lane+:128];
      if (!rst && lane_busy[lane]) begin
        now  = $time;
        low  = wires[128*lane+:64];
        high = wires[128*lane+64+:64];
        `SAN(san_sample) (UNIT, now, low, high, 2 * lane + {31'd0, ends});
      end
    end
  end
endmodule
