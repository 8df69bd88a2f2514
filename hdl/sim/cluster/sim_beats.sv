// BEATs of senders whose clocks are asleep, for the far ends of their LANES cables. A sender puts BEAT on the wire at
// multiples of the period while its clock runs. While it sleeps, BEATs are computed here: a receiver that is awake in
// such a slot sees the character as if it had been sent. A sleeping receiver is woken only for BEATs that a fault may
// have changed: from a slot with a fault to the first BEAT that gets through. The first BEAT after reset wakes it, too,
// so that it knows when they are due.
module sim_beats
  import myri_sleep_pkg::*;
#(
    parameter int LANES = 1  // cables of one receiver
) (
    input logic clk,  // character clock of the receiver
    input logic rst,
    input logic [47:0] cycle,  // absolute index of the coming edge
    input logic [31:0] cfg_beat_period,  // BEAT period of the senders; 0 = no BEATs
    input logic [LANES-1:0] present,  // 1 = a sender is attached
    input  logic [8*LANES-1:0] cfg_delay,        // characters between the sender's register and the end of the cable
    input logic [LANES-1:0] struck,  // a fault was in force at the last edge
    output logic [LANES-1:0] due,  // a BEAT is due at the coming edge
    output logic [LANES-1:0] busy,  // 1 = a further clock edge is needed
    output alarm_t alarm  // wants to be awake at alarm.cycle
);
  logic [LANES-1:0] beating, reached, due_last_q, attending_q;
  logic [47:0] slot_at_q[0:LANES-1];
  logic [47:0] soonest_q;  // no slot is due earlier
  logic [47:0] soonest, period;
  logic near;  // a slot may be due; slots are checked only then

  assign period = {16'd0, cfg_beat_period};
  assign beating = cfg_beat_period == 32'd0 ? '0 : present;
  assign near = cycle >= soonest_q;
  // Slots depend on `cycle` and are evaluated again whenever it changes.
  always_comb begin : slots
    logic [LANES-1:0] gone, now;
    gone = '0;
    now  = '0;
    if (near) begin
      for (int i = 0; i < LANES; i++) begin
        if (beating[i] && cycle >= slot_at_q[i]) begin
          gone[i] = 1'b1;
          now[i]  = (cycle - slot_at_q[i]) % period == 48'd0;
        end
      end
    end
    reached = gone;
    due = now;
  end
  // The receiver samples at the edge after the slot's.
  assign busy = due_last_q | (struck & ~attending_q);
  assign alarm.valid = (attending_q & beating) != '0;
  assign alarm.cycle = soonest_q;

  always_ff @(posedge clk) begin
    if (rst) begin
      due_last_q  <= '0;
      attending_q <= '1;
      soonest_q   <= 48'd0;
    end else begin
      due_last_q  <= due;
      attending_q <= (attending_q & ~due_last_q) | struck;
      if (near) begin
        soonest = '1;
        for (int i = 0; i < LANES; i++) begin
          if (beating[i] && slot_at_q[i] < soonest) soonest = slot_at_q[i];
        end
        soonest_q <= soonest;
      end
    end
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      for (int i = 0; i < LANES; i++) begin
        slot_at_q[i] <= '1;
        if (beating[i])
          slot_at_q[i] <= (cycle / period + 48'd1) * period + {40'd0, cfg_delay[8*i+:8]} + 48'd1;
      end
    end else if (near) begin
      for (int i = 0; i < LANES; i++) begin
        if (reached[i]) slot_at_q[i] <= cycle - (cycle - slot_at_q[i]) % period + period;
      end
    end
  end
endmodule
