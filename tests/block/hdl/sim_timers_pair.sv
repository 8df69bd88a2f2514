// Timers of the LANai and of the link twice: for a clock that may skip edges, and for one that runs at every edge.
module sim_timers_pair
  import myri_settings_pkg::*;
(
    input logic clk,
    input logic rst,
    input logic [15:0] cfg_num,
    input logic [15:0] cfg_den,
    input logic w_rtc,
    input logic [2:0] w_it,
    input logic [31:0] w_data,
    input link_settings_t cfg,  // link timers: the BEAT period
    input logic [15:0] period,  // of the timer of multiples
    input logic got_beat,
    output logic [31:0] rtc,
    output logic [95:0] it,
    output logic [2:0] expired,
    output logic due,
    output logic [2:0] beat,
    output logic [ 4:0] differ    // bits: RTC, timers, strobes, multiples of the period, state of the link
);
  logic [47:0] cycle;
  logic [31:0] rtc_c;
  logic [95:0] it_c;
  logic [ 2:0] expired_c;
  logic [ 2:0] beat_c;
  logic        due_c;

  assign differ = {beat_c != beat, due_c != due, expired_c != expired, it_c != it, rtc_c != rtc};

  always_ff @(posedge clk) cycle <= rst ? 48'd1 : cycle + 48'd1;

  for (genvar k = 0; k < 2; k++) begin : gen_way
    localparam bit ABSOLUTE = k == 0;
    logic [31:0] own_rtc;
    logic [95:0] own_it;
    logic [ 2:0] own_expired;
    logic [ 2:0] own_beat;
    logic        own_due;

    myri_lanai_timers #(
        .SLEEPS(ABSOLUTE)
    ) u_timers (
        .clk(clk),
        .rst(rst),
        .cycle(rst ? 48'd0 : cycle),
        .cfg_num(cfg_num),
        .cfg_den(cfg_den),
        .select(1'b1),
        .w_rtc(w_rtc),
        .w_it(w_it),
        .w_data(w_data),
        .rtc(own_rtc),
        .it(own_it),
        .expired(own_expired),
        .alarm()
    );

    myri_link_timer #(
        .WIDTH (16),
        .SLEEPS(ABSOLUTE)
    ) u_period (
        .clk(clk),
        .rst(rst),
        .cycle(rst ? 48'd0 : cycle),
        .period(period),
        .due(own_due)
    );

    myri_link_beat #(
        .SLEEPS(ABSOLUTE)
    ) u_beat (
        .clk(clk),
        .rst(rst),
        .cycle(rst ? 48'd0 : cycle),
        .cfg(cfg),
        .got_beat(got_beat),
        .beat_seen(own_beat[0]),
        .beat_missed(own_beat[1]),
        .link_down(own_beat[2])
    );
  end

  assign rtc = gen_way[0].own_rtc;
  assign it = gen_way[0].own_it;
  assign expired = gen_way[0].own_expired;
  assign due = gen_way[0].own_due;
  assign beat = gen_way[0].own_beat;
  assign rtc_c = gen_way[1].own_rtc;
  assign it_c = gen_way[1].own_it;
  assign expired_c = gen_way[1].own_expired;
  assign due_c = gen_way[1].own_due;
  assign beat_c = gen_way[1].own_beat;
endmodule
