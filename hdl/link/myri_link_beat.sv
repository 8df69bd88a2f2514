// Continuity monitor of a link: BEAT received, BEAT missed, link down.
//
// A BEAT determines when the next one is due: one period later. A BEAT is missed if its slot has a clock edge and
// another character is on the wire; three successive misses set link_down. A slot without a clock edge counts as a
// received BEAT: a simulator that stops both ends wakes the receiver for every lost BEAT, and for the following ones
// until one has arrived (sim_beats). If the clock starts in the very slot, it had no edge when the BEAT entered the
// register.
module myri_link_beat
  import myri_settings_pkg::*;
#(
    parameter bit SLEEPS = myri_sleep_pkg::CLOCKS_SLEEP  // the clock may skip edges
) (
    input  logic                  clk,          // character clock
    input  logic                  rst,          // synchronous reset
    input  logic           [47:0] cycle,        // absolute index of the coming edge
    input  link_settings_t        cfg,          // configuration of the port
    input  logic                  got_beat,     // BEAT is on the wire
    output logic                  beat_seen,    // a BEAT was received since reset
    output logic                  beat_missed,  // the last due BEAT did not arrive
    output logic                  link_down     // three successive BEATs did not arrive
);
  logic armed_q;
  logic on_time;  // the coming edge is a slot, and the one before it was not skipped
  logic reached;  // the coming edge is a slot, or the first one after a skipped slot
  logic [1:0] misses_q;

  assign link_down   = misses_q == 2'd3;
  assign beat_missed = misses_q != 2'd0;

  always_ff @(posedge clk) begin
    if (rst) begin
      armed_q   <= 1'b0;
      beat_seen <= 1'b0;
      misses_q  <= 2'd0;
    end else if (got_beat) begin
      armed_q   <= cfg.beat_period != 32'd0;
      beat_seen <= 1'b1;
      misses_q  <= 2'd0;
    end else if (on_time && !link_down) misses_q <= misses_q + 2'd1;
  end

  if (SLEEPS) begin : gen_absolute
    logic [47:0] slot_at_q;
    logic [47:0] behind;  // edges since the last slot
    logic [47:0] coming_q;  // index of the edge after the last one: not `cycle` when the clock slept

    assign reached = armed_q && cycle >= slot_at_q;
    assign on_time = reached && behind == 48'd0 && cycle == coming_q;

    always_comb begin
      behind = 48'd0;
      if (reached && cycle != slot_at_q)
        behind = myri_link_pkg::remainder(cycle - slot_at_q, {16'd0, cfg.beat_period});
    end

    always_ff @(posedge clk) begin
      coming_q <= cycle + 48'd1;
      if (rst) slot_at_q <= 48'd0;
      else if (got_beat) slot_at_q <= cycle + {16'd0, cfg.beat_period};
      else if (reached) slot_at_q <= cycle - behind + {16'd0, cfg.beat_period};
    end
  end else begin : gen_counted
    logic [31:0] left_q;  // edges between the coming one and the slot

    assign reached = armed_q && left_q == 32'd0;
    assign on_time = reached;

    always_ff @(posedge clk)
      left_q <= got_beat || reached ? cfg.beat_period - 32'd1 : left_q - 32'd1;

    logic unused_ok;
    assign unused_ok = ^cycle;
  end
endmodule
