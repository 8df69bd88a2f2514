// Input port of a switch in a cluster: the arriving cable, the trace points of the port, and its invariants (codes:
// tb/lab/invariants.py).
module sim_switch_port
  import myri_switch_pkg::*;
  import sim_settings_pkg::*;
  import sim_trace_pkg::*;
#(
    parameter int CABLE = 0,  // number of the cable direction that arrives
    parameter int SWITCH = 0,  // number of the switch in the cluster
    parameter int PORT = 0,  // number of the port
    parameter int CARRIED = 0  // see sim_cable
) (
    input logic clk,
    input logic rst,
    input logic [47:0] cycle,
    input logic faults,
    input logic beat_owed,  // see sim_cable
    input logic [8:0] in,  // characters entering the cable at its far end
    output logic [8:0] rx,  // characters at this end
    output logic stop_lasts,  // see myri_link_core
    input logic [7:0] cable_delay,  // delay of the arriving cable
    output logic struck,
    input switch_trace_t trace,  // of the port
    input logic lost,  // a character was lost at the last edge
    output logic busy  // 1 = a further edge of this port's clock is needed
);
  localparam int UNIT = SWITCH_BASE + SWITCH * PORTS_PER_SWITCH + PORT;
  logic [31:0] out_port;
  logic cable_busy, fill_busy;
  assign out_port = {28'd0, trace.out};
  assign busy = cable_busy | fill_busy;
  sim_cable #(
      .CABLE  (CABLE),
      .CARRIED(CARRIED)
  ) cable (
      .clk,
      .rst,
      .cycle,
      .faults,
      .in,
      .rx,
      .stop_lasts,
      .struck,
      .due(beat_owed),
      .cfg_delay(cable_delay),
      .busy(cable_busy)
  );
  sim_probe #(
      .UNIT (UNIT),
      .EVENT(EV_SWITCH_HEAD)
  ) head (
      .clk,
      .rst,
      .strobe(trace.head),
      .packet(32'd0),
      .argument(out_port),
      .argument2(64'd0),
      .ago(32'd0)
  );
  sim_probe #(
      .UNIT (UNIT),
      .EVENT(EV_SWITCH_GRANT)
  ) grant (
      .clk,
      .rst,
      .strobe(trace.grant),
      .packet(32'd0),
      .argument(out_port),
      .argument2(64'd0),
      .ago(32'd0)
  );
  sim_probe #(
      .UNIT (UNIT),
      .EVENT(EV_SWITCH_QUEUE)
  ) queue (
      .clk,
      .rst,
      .strobe(trace.queued),
      .packet(32'd0),
      .argument(out_port),
      .argument2(64'd0),
      .ago(32'd0)
  );
  sim_probe #(
      .UNIT (UNIT),
      .EVENT(EV_SWITCH_TAIL)
  ) tail (
      .clk,
      .rst,
      .strobe(trace.tail),
      .packet(trace.key),
      .argument(out_port),
      .argument2(64'd0),
      .ago(32'd0)
  );
  sim_level #(
      .UNIT(UNIT),
      .RISE(EV_STALL_START),
      .FALL(EV_STALL_END)
  ) stall (
      .clk,
      .rst,
      .level(trace.stall),
      .packet(32'd0),
      .argument(out_port),
      .busy()
  );
  sim_fill #(
      .UNIT(UNIT)
  ) fill (
      .clk,
      .rst,
      .held(trace.fill),
      .busy(fill_busy)
  );
  sim_invariant #(
      .UNIT(UNIT),
      .CODE(64)
  ) no_overflow (
      .clk,
      .rst,
      .strobe(lost),
      .packet(32'd0)
  );
  sim_invariant #(
      .UNIT(UNIT),
      .CODE(72)
  ) no_illegal (
      .clk,
      .rst,
      .strobe(trace.illegal),
      .packet(32'd0)
  );
endmodule
