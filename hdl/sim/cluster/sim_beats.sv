// The BEATs of a sender asleep, at the far end of its cable. A sender puts BEAT on the wire at multiples of the period while its
// clock runs; in its sleep they are computed, here: a receiver that is awake in such a slot sees the character as if it had
// been sent. A receiver asleep is woken only for BEATs that a fault may have changed: from a slot that a fault strikes to
// the first BEAT that gets through. The first one after reset wakes it too, so that it knows when they are due.
module sim_beats
  import myri_sleep_pkg::*;
(
    input  logic          clk,              // character clock of the receiver
    input  logic          rst,
    input  logic   [47:0] cycle,            // absolute index of the coming edge
    input  logic   [31:0] cfg_beat_period,  // the sender's; 0 = it sends none
    input  logic   [ 7:0] cfg_delay,        // characters between the sender's register and `in`
    input  logic   [ 8:0] in,               // what comes out of the cable
    input  logic          struck,           // a fault was in force at the last edge
    output logic   [ 8:0] out,              // the same, with the BEATs that were not sent
    output logic          due,              // a BEAT is due at the coming edge
    output logic          busy,             // another edge is needed
    output alarm_t        alarm             // wants to be awake at alarm.cycle
);
  localparam logic [8:0] BEAT = 9'h030;
  logic reached, due_last_q, attending_q;
  logic [47:0] slot_at_q, behind, period;

  assign period  = {16'd0, cfg_beat_period};
  assign reached = cycle >= slot_at_q && cfg_beat_period != 32'd0;
  always_comb begin
    behind = 48'd0;
    if (reached && cycle != slot_at_q) behind = myri_link_pkg::remainder(cycle - slot_at_q, period);
  end
  assign due = reached && behind == 48'd0;
  assign out = due && in == 9'h000 ? BEAT : in;
  // The receiver samples at the edge after the slot's.
  assign busy = due_last_q | (struck & !attending_q);
  assign alarm.valid = attending_q && cfg_beat_period != 32'd0;
  assign alarm.cycle = slot_at_q;

  always_ff @(posedge clk) begin
    if (rst) begin
      due_last_q  <= 1'b0;
      attending_q <= 1'b1;
      slot_at_q   <= '1;
      if (cfg_beat_period != 32'd0)
        slot_at_q <= (cycle / period + 48'd1) * period + {40'd0, cfg_delay} + 48'd1;
    end else if (reached | due_last_q | struck) begin
      if (reached) slot_at_q <= cycle - behind + period;
      due_last_q <= due;
      if (struck) attending_q <= 1'b1;
      else if (due_last_q) attending_q <= 1'b0;
    end
  end
endmodule
