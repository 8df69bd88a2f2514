// Switch with synthetic traffic at every port, for the saturation study and the speed benchmark.
//
// Timing: see sim_traffic and myri_switch; everything runs on one clock that never sleeps. A loop that only toggles clk
// may read the totals at any time.
module sim_switch_bench
  import myri_settings_pkg::*;
  import myri_switch_pkg::*;
#(
    parameter int PORTS = 8  // 4, 8 or 16
) (
    input  logic                clk,                  // character clock
    input  logic                rst,                  // synchronous reset
    input  logic                enable,               // sources may start packets
    input  logic [        31:0] cfg_seed,             // see sim_traffic; settings are read in reset
    input  logic [        16:0] cfg_load,             // see sim_traffic
    input  logic [        15:0] cfg_length,           // see sim_traffic
    input  logic                cfg_self,             // see sim_traffic
    input  logic [         7:0] cfg_fall_through,     // see myri_switch
    output logic [        47:0] cycle,                // clocks since reset
    output logic [32*PORTS-1:0] port_offered,         // per source: packets arrived
    output logic [32*PORTS-1:0] port_backlog,         // per source: packets waiting
    output logic [32*PORTS-1:0] port_received_chars,  // per sink: characters received
    output logic [32*PORTS-1:0] port_received,        // per sink: packets received
    output logic [32*PORTS-1:0] port_crc_errors,      // per sink: packets with a wrong CRC-8
    output logic [32*PORTS-1:0] port_overflow,        // per switch input: characters lost
    output logic [        47:0] total_chars,          // all sinks: characters received
    output logic [        47:0] total_packets,        // all sinks: packets received
    output logic [        47:0] total_offered,        // all sources: packets arrived
    output logic [        47:0] total_backlog,        // all sources: packets waiting
    output logic [        47:0] total_errors          // CRC-8 errors and characters lost
);
  logic [                 9*PORTS-1:0] to_switch;
  logic [                 9*PORTS-1:0] from_switch;
  logic [SWITCH_COUNTS_BITS*PORTS-1:0] port_counts;
  logic                                run_q;
  logic [                        31:0] set_seed_q;
  logic [                        16:0] set_load_q;
  logic [                        15:0] set_length_q;
  logic                                set_self_q;
  logic [                         7:0] set_fall_through_q;
  logic [                32*PORTS-1:0] now_offered;
  logic [                32*PORTS-1:0] now_backlog;
  logic [                32*PORTS-1:0] now_received_chars;
  logic [                32*PORTS-1:0] now_received;
  logic [                32*PORTS-1:0] now_crc_errors;
  logic [                32*PORTS-1:0] now_overflow;
  logic                                refresh;
  logic [                        47:0] sum_chars;
  logic [                        47:0] sum_packets;
  logic [                        47:0] sum_offered;
  logic [                        47:0] sum_backlog;
  logic [                        47:0] sum_errors;

  // Settings are registers: inputs of the top level would be evaluated at both clock edges.
  always_ff @(posedge clk) begin
    run_q <= enable && !rst;
    if (rst) begin
      cycle <= 48'd0;
      set_seed_q <= cfg_seed;
      set_load_q <= cfg_load;
      set_length_q <= cfg_length;
      set_self_q <= cfg_self;
      set_fall_through_q <= cfg_fall_through;
    end else cycle <= cycle + 48'd1;
  end

  assign refresh = cycle[5:0] == 6'd0;

  // Counters are output every 64 clocks only, because adding them up costs as much as switching.
  always_ff @(posedge clk) begin
    if (rst) begin
      total_chars <= 48'd0;
      total_packets <= 48'd0;
      total_offered <= 48'd0;
      total_backlog <= 48'd0;
      total_errors <= 48'd0;
      port_offered <= '0;
      port_backlog <= '0;
      port_received_chars <= '0;
      port_received <= '0;
      port_crc_errors <= '0;
      port_overflow <= '0;
    end else if (refresh) begin
      total_chars <= sum_chars;
      total_packets <= sum_packets;
      total_offered <= sum_offered;
      total_backlog <= sum_backlog;
      total_errors <= sum_errors;
      port_offered <= now_offered;
      port_backlog <= now_backlog;
      port_received_chars <= now_received_chars;
      port_received <= now_received;
      port_crc_errors <= now_crc_errors;
      port_overflow <= now_overflow;
    end
  end

  always_comb begin
    sum_chars   = 48'd0;
    sum_packets = 48'd0;
    sum_offered = 48'd0;
    sum_backlog = 48'd0;
    sum_errors  = 48'd0;
    if (refresh) begin
      for (int i = 0; i < PORTS; i++) begin
        sum_chars   = sum_chars + 48'(now_received_chars[32*i+:32]);
        sum_packets = sum_packets + 48'(now_received[32*i+:32]);
        sum_offered = sum_offered + 48'(now_offered[32*i+:32]);
        sum_backlog = sum_backlog + 48'(now_backlog[32*i+:32]);
        sum_errors  = sum_errors + 48'(now_crc_errors[32*i+:32]) + 48'(now_overflow[32*i+:32]);
      end
    end
  end

  switch_settings_t cfg;
  always_comb begin
    cfg.link.slack = 8'd80;
    cfg.link.stop_mark = 8'd56;
    cfg.link.go_mark = 8'd40;
    cfg.link.refresh = 16'd8;
    cfg.link.short_timeout = 16'd16;
    cfg.link.long_timeout = 32'd4_000_000;
    cfg.link.beat_period = 32'd0;
    cfg.fall_through = set_fall_through_q;
    cfg.central_chunks = 16'd0;
  end
  myri_switch #(
      .PORTS(PORTS)
  ) u_switch (
      .clk,
      .rst,
      .cycle,
      .cfg,
      .gated_clk({PORTS{clk}}),
      .gated_needed(),
      .rx(to_switch),
      .tx(from_switch),
      .stop_lasts({PORTS{1'b0}}),
      .present({PORTS{1'b1}}),
      .port_trace(),
      .port_counts,
      .sleep()
  );

  for (genvar p = 0; p < PORTS; p++) begin : gen_traffic
    switch_counts_t counted;
    assign counted = port_counts[SWITCH_COUNTS_BITS*p+:SWITCH_COUNTS_BITS];
    assign now_overflow[32*p+:32] = counted.overflow;
    sim_traffic #(
        .PORTS(PORTS),
        .ID(p)
    ) u_traffic (
        .clk(clk),
        .rst(rst),
        .enable(run_q),
        .cfg_seed(set_seed_q),
        .cfg_load(set_load_q),
        .cfg_length(set_length_q),
        .cfg_self(set_self_q),
        .rx(from_switch[9*p+:9]),
        .tx(to_switch[9*p+:9]),
        .offered(now_offered[32*p+:32]),
        .backlog(now_backlog[32*p+:32]),
        .received_chars(now_received_chars[32*p+:32]),
        .received_packets(now_received[32*p+:32]),
        .crc_errors(now_crc_errors[32*p+:32])
    );
  end
endmodule
