// Trace point for a level: a record with event RISE when it rises, with event FALL when it falls.
`include "doorway.svh"
module sim_level #(
    parameter int          UNIT = 0,      // unit number of the record
    parameter logic [15:0] RISE = 16'd0,  // event code of pymodels/trace.py
    parameter logic [15:0] FALL = 16'd0   // event code of pymodels/trace.py
) (
    input  logic        clk,
    input  logic        rst,
    input  logic        level,
    input  logic [31:0] packet,    // packet key
    input  logic [31:0] argument,
    output logic        busy       // a trace record is due at the next edge
);
  logic   last_q;
  longint now;
  assign busy = level != last_q;
  always_ff @(posedge clk) begin
    if (rst) last_q <= 1'b0;
    else if (level != last_q) begin
      now = $time;
      last_q <= level;
      `SAN(san_trace) (now, UNIT, {16'd0, level ? RISE : FALL}, packet, argument, 64'd0);
    end
  end
endmodule
