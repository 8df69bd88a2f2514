// One direction of a cable as it arrives: the delay line, then one register at which faults act. Clocked by the
// receiving side, which it keeps awake while anything moves in it. A cable is thus at least one character long.
`include "doorway.svh"
module sim_cable #(
    parameter int CABLE = 0,  // number of the cable direction, for faults
    parameter int UNIT  = 0,  // settings unit, and the key of the delay: characters before the register
    parameter int KEY = 0
) (
    input  logic        clk,
    input  logic        rst,
    input  logic [47:0] cycle,
    input  logic        faults,   // some cable of the cluster has a fault in force or to come
    input  logic [ 8:0] in,
    input  logic        in_hold,
    output logic [ 8:0] rx,
    output logic        rx_hold,
    output logic        busy
);
  logic [7:0] cfg_delay;
  sim_setting #(
      .UNIT (UNIT),
      .KEY  (KEY),
      .WIDTH(8)
  ) delay (
      .clk,
      .rst,
      .value(cfg_delay)
  );
  logic [8:0] arrived;
  logic arrived_hold, cable_busy, holds_differ;
  int character;
  longint slot;
  myri_cable cable (
      .clk,
      .rst,
      .in,
      .in_hold,
      .cfg_delay,
      .out(arrived),
      .out_hold(arrived_hold),
      .busy(cable_busy)
  );
  always_ff @(posedge clk) begin
    if (rst) begin
      rx <= 9'h000;
      rx_hold <= 1'b0;
    end else begin
      rx <= arrived;
      rx_hold <= arrived_hold;
      if (faults) begin
        slot = {16'd0, cycle};
        character = `SAN(san_fault) (CABLE, slot, {23'd0, arrived});
        rx <= character[8:0];
        if (character[9] || (character[8:0] != arrived && !character[10])) rx_hold <= 1'b0;
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
  assign busy = cable_busy | (rx != 9'h000) | (arrived != rx) | (in != 9'h000) | holds_differ;
  assign holds_differ = (in_hold != arrived_hold) | (arrived_hold != rx_hold);
endmodule
