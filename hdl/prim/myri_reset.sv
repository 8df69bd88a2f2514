// Reset bridge: the reset of one clock domain, from a reset of any clock or none.
//
// Timing: `reset` rises at once with `any_rst`, without a clock. It falls STAGES edges of clk after any_rst has fallen, or
// an edge later if that fell into the setup window of an edge. A register that `any_rst` releases near an edge is
// metastable, so the first one is followed by others whose input is stable by then. A top level has one bridge for each
// of its clocks; in all other modules a reset is synchronous to its clock. The attributes keep synthesis tools from
// merging, retiming or duplicating the registers.
module myri_reset #(
    parameter int STAGES = 2  // registers in a row, from 2 on
) (
    input logic clk,  // clock of the domain
    input logic any_rst,  // reset of any clock, straight from a register or a pin
    output logic reset  // reset of the domain
);
  (* keep, dont_touch = "true", async_reg = "true", syn_preserve = 1 *) logic [STAGES-1:0] bridge_q;

  assign reset = bridge_q[STAGES-1];

  always_ff @(posedge clk or posedge any_rst) begin
    if (any_rst) bridge_q <= '1;
    else bridge_q <= {bridge_q[STAGES-2:0], 1'b0};
  end
endmodule
