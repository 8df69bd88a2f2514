// Clock that sleeps (Icarus; on Verilator verilator_main.cpp does the same). Edges lie at whole multiples of the
// period, the first one strictly after the wake-up. `cycle` is the absolute index of the coming edge; it changes away
// from the edge.
`include "doorway.svh"
module sim_clock #(
    parameter int CLOCK = 0  // index of the clock in the cluster
) (
    input  logic        started,     // run-time settings are loaded
    input  logic        stay_awake,  // always-on run, or reset in progress
    input  logic        awake,       // 1 = the clock domain needs edges
    input  logic [ 7:0] kick,        // incremented by C: the edge after a change must occur
    output logic        clk,
    output logic        refresh,     // high between a wake-up and the next edge
    output logic [47:0] cycle
);
  logic [63:0] period, next_edge;
  logic [7:0] kick_seen;
  initial begin
    clk       = 1'b0;
    refresh   = 1'b0;
    cycle     = '0;
    kick_seen = '0;
    wait (started);
    period = `SAN(san_period) (CLOCK);
    forever begin
      wait (awake | stay_awake | (kick != kick_seen));
      next_edge = ($time / period + 64'd1) * period;
      cycle = next_edge[47:0] / period[47:0];
      refresh = 1'b1;
      #(next_edge - $time);
      refresh = 1'b0;
      while (awake | stay_awake | (kick != kick_seen) | ($time == next_edge)) begin
        kick_seen = kick;
        clk = 1'b1;
        #(period / 2);
        clk   = 1'b0;
        cycle = cycle + 48'd1;
        #(period - period / 2);
      end
    end
  end
endmodule
