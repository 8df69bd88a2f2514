// Time registers of the LANai: RTC and the interval timers IT0..IT2, computed from the edge index.
//
// One tick = 0.5 us = den/num clocks: ticks(cycle) = floor(cycle * cfg_num / cfg_den), exact. RTC counts up from its
// last written value. ITk counts down one per tick from its written value; when it wraps below zero, `expired[k]`
// strobes once (not at the second wrap, 35 minutes later).
// Timing: values are those of the coming edge, combinational; a strobe comes at the first edge at or after the tick.
// Clock gating: no register counts; the next timer is an alarm.
module myri_lanai_timers
  import myri_sleep_pkg::*;
(
    input  logic          clk,      // NIC clock
    input  logic          rst,      // synchronous reset: timers off, RTC = ticks since edge 0
    input  logic   [47:0] cycle,    // index of the coming edge
    input  logic   [15:0] cfg_num,  // ticks ...
    input  logic   [15:0] cfg_den,  // ... in this many clocks, not 0
    input  logic          select,   // rtc or it are read or written in this clock
    input  logic          w_rtc,    // write of RTC
    input  logic   [ 2:0] w_it,     // write of ITk
    input  logic   [31:0] w_data,   // value written
    output logic   [31:0] rtc,      // RTC, meaningful with select
    output logic   [95:0] it,       // {IT2, IT1, IT0}, meaningful with select
    output logic   [ 2:0] expired,  // strobes
    output alarm_t        alarm     // alarm of the timers
);
  logic [ 15:0] den;
  logic [ 15:0] num;
  logic [ 63:0] ticks;
  logic [ 63:0] target;  // tick at which a timer written now reaches 0
  logic [ 63:0] wrap_cycle;  // edge of that tick
  logic [ 31:0] base_q;  // RTC = ticks + base
  logic [  2:0] running_q;
  logic [ 95:0] zero_q;  // tick (mod 2**32) at which each timer reads 0
  logic [143:0] due_q;  // edge of each timer
  logic [ 47:0] a0;
  logic [ 47:0] a1;
  logic [ 47:0] a2;
  logic [ 47:0] a01;

  // The quotients are needed only where a register is read or written. Elsewhere the divisor is 0, for which a
  // simulator skips the division.
  assign den = select ? cfg_den : 16'd0;
  assign num = w_it != 3'd0 ? cfg_num : 16'd0;
  assign ticks = select ? ({16'd0, cycle} * {48'd0, cfg_num}) / {48'd0, den} : 64'd0;
  assign target = ticks + {32'd0, w_data} + 64'd1;
  assign wrap_cycle = w_it != 3'd0 ? (target * {48'd0, cfg_den} + {48'd0, cfg_num} - 64'd1) / {48'd0, num} : 64'd0;
  assign rtc = ticks[31:0] + base_q;

  for (genvar k = 0; k < 3; k++) begin : gen_timer
    assign it[32*k+:32] = zero_q[32*k+:32] - ticks[31:0];
    assign expired[k]   = running_q != 3'd0 && running_q[k] && cycle >= due_q[48*k+:48];
    always_ff @(posedge clk) begin
      if (rst) begin
        running_q[k] <= 1'b0;
        zero_q[32*k+:32] <= 32'd0;
        due_q[48*k+:48] <= 48'd0;
      end else if (w_it[k]) begin
        running_q[k] <= 1'b1;
        zero_q[32*k+:32] <= ticks[31:0] + w_data;
        due_q[48*k+:48] <= wrap_cycle[47:0];
      end else if (expired[k]) begin
        running_q[k] <= 1'b0;
      end
    end
  end

  always_ff @(posedge clk) begin
    if (rst) base_q <= 32'd0;
    else if (w_rtc) base_q <= w_data - ticks[31:0];
  end

  assign a0 = running_q[0] ? due_q[47:0] : '1;
  assign a1 = running_q[1] ? due_q[95:48] : '1;
  assign a2 = running_q[2] ? due_q[143:96] : '1;
  assign a01 = (a0 < a1) ? a0 : a1;
  assign alarm.cycle = (a01 < a2) ? a01 : a2;
  assign alarm.valid = running_q != 3'd0;

  logic unused_ok;
  assign unused_ok = ^{wrap_cycle[63:48], 1'b0};
endmodule
