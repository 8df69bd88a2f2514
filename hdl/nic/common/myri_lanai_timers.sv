// Time registers of the LANai: RTC and the interval timers IT0..IT2.
//
// One tick = 0.5 us = den/num clocks: ticks(cycle) = floor(cycle * cfg_num / cfg_den), exact. RTC counts up from its
// last written value. ITk counts down one per tick from its written value; when it wraps below zero, `expired[k]`
// strobes once (not at the second wrap, 35 minutes later).
// Timing: values are those of the coming edge, combinational; a strobe comes at the first edge at or after the tick.
// Clock gating: with SLEEPS ticks are computed from the index of the edge, no register counts, and the next timer is an
// alarm. Without, ticks are counted, without a division, and the last edge with rst = 1 has index 0.
module myri_lanai_timers
  import myri_sleep_pkg::*;
#(
    parameter bit SLEEPS = myri_sleep_pkg::CLOCKS_SLEEP  // the clock may skip edges
) (
    input  logic                clk,      // NIC clock
    input  logic                rst,      // synchronous reset: timers off, RTC = ticks since edge 0
    input  logic   [47:0]       cycle,    // index of the coming edge
    input  logic   [15:0]       cfg_num,  // ticks ...
    input  logic   [15:0]       cfg_den,  // ... in this many clocks, at least cfg_num
    input  logic                select,   // rtc or it are read or written in this clock
    input  logic                w_rtc,    // write of RTC
    input  logic   [ 2:0]       w_it,     // write of ITk
    input  logic   [31:0]       w_data,   // value written
    output logic   [31:0]       rtc,      // RTC, meaningful with select
    output logic   [ 2:0][31:0] it,       // IT0, IT1, IT2, meaningful with select
    output logic   [ 2:0]       expired,  // strobes
    output alarm_t              alarm     // alarm of the timers
);
  logic [31:0] ticks;  // of the coming edge, modulo 2**32
  logic [31:0] base_q;  // RTC = ticks + base
  logic [2:0] running_q;
  logic [2:0][31:0] zero_q;  // tick (mod 2**32) at which each timer reads 0
  logic [2:0] due;  // the coming edge is the first at or after the tick at which a timer wraps

  assign rtc = ticks + base_q;
  assign expired = running_q & due;

  for (genvar k = 0; k < 3; k++) begin : gen_timer
    assign it[k] = zero_q[k] - ticks;
    always_ff @(posedge clk) begin
      if (rst) begin
        running_q[k] <= 1'b0;
        zero_q[k] <= 32'd0;
      end else if (w_it[k]) begin
        running_q[k] <= 1'b1;
        zero_q[k] <= ticks + w_data;
      end else if (expired[k]) begin
        running_q[k] <= 1'b0;
      end
    end
  end

  always_ff @(posedge clk) begin
    if (rst) base_q <= 32'd0;
    else if (w_rtc) base_q <= w_data - ticks;
  end

  if (SLEEPS) begin : gen_absolute
    logic [ 15:0] den;
    logic [ 15:0] num;
    logic [ 63:0] quotient;
    logic [ 63:0] target;  // tick at which a timer written now wraps
    logic [ 63:0] wrap_cycle;  // edge of that tick
    logic [143:0] due_q;  // edge of each timer
    logic [ 47:0] a0;
    logic [ 47:0] a1;
    logic [ 47:0] a2;
    logic [ 47:0] a01;

    // A division is needed only for a read or write. Otherwise the divisor is 0, for which simulators skip the
    // division.
    assign den = select ? cfg_den : 16'd0;
    assign num = w_it != 3'd0 ? cfg_num : 16'd0;
    assign quotient = select ? ({16'd0, cycle} * {48'd0, cfg_num}) / {48'd0, den} : 64'd0;
    assign ticks = quotient[31:0];
    assign target = quotient + {32'd0, w_data} + 64'd1;
    assign wrap_cycle = w_it != 3'd0 ? (target * {48'd0, cfg_den} + {48'd0, cfg_num} - 64'd1) / {48'd0, num} : 64'd0;

    for (genvar k = 0; k < 3; k++) begin : gen_due
      assign due[k] = running_q != 3'd0 && running_q[k] && cycle >= due_q[48*k+:48];
      always_ff @(posedge clk) begin
        if (rst) due_q[48*k+:48] <= 48'd0;
        else if (w_it[k]) due_q[48*k+:48] <= wrap_cycle[47:0];
      end
    end

    assign a0 = running_q[0] ? due_q[47:0] : '1;
    assign a1 = running_q[1] ? due_q[95:48] : '1;
    assign a2 = running_q[2] ? due_q[143:96] : '1;
    assign a01 = (a0 < a1) ? a0 : a1;
    assign alarm.cycle = (a01 < a2) ? a01 : a2;
    assign alarm.valid = running_q != 3'd0;

    logic unused_ok;
    assign unused_ok = ^{wrap_cycle[63:48], 1'b0};
  end else begin : gen_counted
    logic [16:0] phase_q;  // (edge * cfg_num) modulo cfg_den
    logic [16:0] phase_d;
    logic [31:0] ticks_q;
    logic step;  // a tick lies between the coming edge and the one after it
    logic stepped_q;  // a tick lies between the last edge and the coming one

    assign phase_d = phase_q + {1'b0, cfg_num};
    assign step = phase_d >= {1'b0, cfg_den};
    assign ticks = ticks_q;

    always_ff @(posedge clk) begin
      if (rst) begin
        phase_q   <= cfg_num == cfg_den ? 17'd0 : {1'b0, cfg_num};
        ticks_q   <= {31'd0, cfg_num == cfg_den};
        stepped_q <= cfg_num == cfg_den;
      end else begin
        phase_q   <= step ? phase_d - {1'b0, cfg_den} : phase_d;
        ticks_q   <= ticks_q + {31'd0, step};
        stepped_q <= step;
      end
    end

    for (genvar k = 0; k < 3; k++) begin : gen_due
      assign due[k] = stepped_q && ticks_q == zero_q[k] + 32'd1;
    end

    assign alarm = NO_ALARM;

    logic unused_ok;
    assign unused_ok = ^{cycle, select, 1'b0};
  end
endmodule
