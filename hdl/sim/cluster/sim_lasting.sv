// STOP of a sender with a gated clock, seen from the end of its cable. Such a sender does not repeat its STOP while its
// clock is stopped. The receiver is told that the STOP lasts, and then does not take the silence for a lost GO.
module sim_lasting (
    input logic clk,  // character clock; an edge is needed while `character` is not IDLE
    input logic rst,  // synchronous reset
    input logic [8:0] character,  // at the end of the cable, before faults
    output logic stop_lasts  // to the receiver, with `character`
);
  logic lasts_q;
  assign stop_lasts = myri_link_pkg::stop_after(character, lasts_q);
  always_ff @(posedge clk) lasts_q <= !rst && stop_lasts;
endmodule
