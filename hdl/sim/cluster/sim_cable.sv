// Receiving end of one direction of a cable: the delay line, then one register at which faults act. Clocked by the
// receiving side, whose clock runs while a character moves in the cable. A cable is therefore at least one character
// long. BEATs of a sleeping sender are inserted before faults act (`due`, of sim_beats).
`include "doorway.svh"
module sim_cable
  import myri_symbol_pkg::*;
#(
    parameter int CABLE = 0,  // number of the cable direction, for faults
    parameter int CARRIED = 0  // 1 = the edge after a change of `in` is given, and every one while `faults`
) (
    input logic clk,
    input logic rst,
    input logic [47:0] cycle,
    input logic faults,  // a cable of the cluster has an active or pending fault
    input logic [7:0] cfg_delay,  // characters before the register
    input logic due,  // a BEAT is, at the coming edge
    input logic [8:0] in,
    output logic [8:0] rx,
    output logic stop_lasts,  // see myri_link_core; 0 after a fault
    output logic struck,  // a fault was in force at the last edge
    output logic busy  // 1 = a further edge is needed; others may be skipped unless a BEAT is due
);
  logic [8:0] arrived, shown;
  logic lasts;
  logic cable_busy, cable_flying;
  logic lasts_q;  // STOP of the sender is in force, see sim_lasting
  logic under_fault_q;  // a fault may hide the character at the input
  logic [8:0] delayed;
  int character;
  longint slot;
  myri_cable cable (
      .clk,
      .rst,
      .in,
      .cfg_delay,
      .delayed,
      .out(arrived),
      .busy(cable_busy),
      .flying(cable_flying)
  );
  always_ff @(posedge clk) begin
    if (rst) begin
      rx <= IDLE;
      stop_lasts <= 1'b0;
      lasts_q <= 1'b0;
      struck <= 1'b0;
      under_fault_q <= 1'b0;
    end else begin
      // Only this block reads the arriving character, so a change triggers no other evaluation.
      shown = arrived;
      lasts = myri_link_pkg::stop_after(shown, lasts_q);
      under_fault_q <= faults && (in != IDLE || shown != IDLE || lasts);
      if (due && shown == IDLE) shown = BEAT;
      rx <= shown;
      lasts_q <= lasts;
      stop_lasts <= lasts;
      if (faults) begin
        slot = {16'd0, cycle};
        character = `SAN(san_fault) (CABLE, slot, {23'd0, shown});
        rx <= character[8:0];
        struck <= character[9] || (character[8:0] != shown && !character[10]);
        if (character[9] || (character[8:0] != shown && !character[10])) stop_lasts <= 1'b0;
      end
    end
  end
  sim_tap #(
      .CABLE(CABLE)
  ) tap (
      .clk,
      .rst,
      .rx
  );
  // A character is on its way to `rx`, or at `rx`. Computed in steps, so that a simulator does not inline it at every
  // use.
  if (CARRIED != 0) begin : gen_carried
    always_comb begin
      busy = 1'b0;
      if (cable_flying) busy = 1'b1;
      if (rx != IDLE) busy = 1'b1;
      if (cfg_delay != 8'd0 && delayed != rx) busy = 1'b1;
      if (under_fault_q) busy = 1'b1;
    end
    logic unused;
    assign unused = cable_busy;
  end else begin : gen_watched
    assign busy = cable_busy | (rx != IDLE) | (arrived != rx) | (in != IDLE) | under_fault_q;
    logic unused;
    assign unused = &{1'b0, cable_flying, delayed};
  end
endmodule
