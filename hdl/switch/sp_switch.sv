// SP switch chip: eight one-byte ports, cut-through crossbar, central queue shared by the outputs.
//
// A packet's first byte names the output relative to the input, as on Myrinet (0x80 + six-bit delta), but the header
// keeps its size (sp_switch_input). A packet cuts through while its output is free and not stopped. Otherwise it goes
// to the central queue, and its link is stopped only when the queue is full.
// A packet with a bad route, or for an absent port, is consumed to its tail and counted. Timing: the first byte of the
// header is on `tx` 3 + cfg.fall_through edges (at least 4) after the edge that samples the route byte, followed by one
// character per edge.
module sp_switch
  import myri_sleep_pkg::*;
  import myri_settings_pkg::*;
  import myri_switch_pkg::*;
  import sp_chunk_pkg::*;
#(
    parameter int PORTS      = 8,  // 4, 8 or 16
    parameter int SLACK_LOG2 = 7,  // slack memory entries per input = 2**SLACK_LOG2
    parameter int QUEUE_LOG2 = 11  // central queue: at most 2**QUEUE_LOG2 chunks of 8 bytes
) (
    input logic clk,  // character clock
    input logic rst,  // synchronous reset
    input logic [47:0] cycle,  // absolute index of the coming edge
    input logic [9*PORTS-1:0] rx,  // characters in, port k at [9k+8:9k]
    output logic [9*PORTS-1:0] tx,  // characters out
    input logic [PORTS-1:0] stop_lasts,  // see myri_link_core
    input logic [PORTS-1:0] present,  // a cable is attached
    input switch_settings_t cfg,  // configuration of the switch
    output logic [SWITCH_TRACE_BITS*PORTS-1:0] port_trace,  // switch_trace_t of each port
    output logic [SWITCH_COUNTS_BITS*PORTS-1:0] port_counts,  // switch_counts_t of each port
    output logic [15:0] st_chunks,  // chunks in the central queue
    output sleep_t sleep  // when clk must run
);
  localparam int PW = $clog2(PORTS);
  sleep_t link_sleep;
  logic busy, grant_busy, central_busy;
  logic held;  // a packet is in the switch
  logic [PORTS-1:0] m_valid, m_ready, m_tail;
  logic [8*PORTS-1:0] m_data;
  logic [PORTS-1:0] request, x_valid, x_ready, x_tail;
  logic [4*PORTS-1:0] request_port;
  logic [8*PORTS-1:0] x_data;
  logic [PORTS-1:0]
      tr_head,
      tr_crossed,
      tr_placed,
      tr_queue,
      gap_leaves,
      ev_illegal,
      stopped,
      crossing,
      queueing,
      direct,
      released,
      occupied;
  logic [PW*PORTS-1:0] owner;
  logic [PORTS-1:0] c_valid, c_take, b_ready;
  logic [SP_CHUNK_BITS*PORTS-1:0] c_chunk;  // per input: sp_chunk_t
  logic [4*PORTS-1:0] c_port;
  logic [PORTS-1:0] n_ready, n_load, reading, pending, attached;
  logic [SP_CHUNK_BITS*PORTS-1:0] n_chunk;  // per output: sp_chunk_t
  logic [PORTS-1:0] s_valid, s_ready, s_tail;
  logic [8*PORTS-1:0] s_data;
  logic [PORTS-1:0] input_busy, collect_busy, output_busy;
  logic [PORTS-1:0] ev_bad_route, ev_absent, ev_forward_reset, ev_overflow;
  logic [4*PORTS-1:0] out;  // per input: output of its packet
  logic [8*PORTS-1:0] fill;
  logic [32*PORTS-1:0] key, packets, queued, bad_route, absent, forward_reset, overflow;

  assign busy  = grant_busy || central_busy || (input_busy | collect_busy | output_busy) != '0;
  assign held  = st_chunks != 16'd0 || (crossing | queueing | c_valid | pending) != '0;
  assign sleep = both(link_sleep, {1'b1, busy, busy || held, NO_ALARM});

  myri_link_core #(
      .LANES(PORTS),
      .SLACK_LOG2(SLACK_LOG2)
  ) u_link (
      .clk,
      .rst,
      .cycle,
      .rx,
      .tx,
      .stop_lasts,
      .s_valid,
      .s_ready,
      .s_tail,
      .s_data,
      .m_valid,
      .m_ready,
      .m_tail,
      .m_data,
      .stopped,
      .ev_overflow,
      .ev_forward_reset,
      .cfg(cfg.link),
      .rx_clk({PORTS{clk}}),
      .tx_clk({PORTS{clk}}),
      .rx_needed(),
      .tx_needed(),
      .stopping(),
      .fill,
      .got_beat(),
      .ev_illegal,
      .ev_short_timeout(),
      .sleep(link_sleep)
  );

  sp_switch_grant #(
      .PORTS(PORTS)
  ) u_grant (
      .clk,
      .rst,
      .request,
      .request_port,
      .released,
      .crossing,
      .queueing,
      .direct,
      .owner,
      .tr_queue,
      .gap_leaves,
      .occupied(occupied | stopped),
      .tr_grant(tr_crossed),
      .busy(grant_busy)
  );

  sp_switch_central #(
      .PORTS(PORTS),
      .QUEUE_LOG2(QUEUE_LOG2)
  ) u_central (
      .clk,
      .rst,
      .c_valid,
      .c_take,
      .c_chunk,
      .c_port,
      .n_ready,
      .n_load,
      .n_chunk,
      .attached,
      .tr_placed,
      .cfg_chunks(cfg.central_chunks),
      .occupied(reading),
      .used(st_chunks),
      .busy(central_busy)
  );

  assign released = direct & s_valid & s_ready & s_tail;

  // Outputs with a packet in the central queue or on its way there.
  always_comb begin : outputs
    logic [PORTS-1:0] taken;
    taken = reading | pending;
    if ((queueing | c_valid) != '0) begin
      for (int i = 0; i < PORTS; i++) begin
        for (int o = 0; o < PORTS; o++) begin
          if (queueing[i] && out[4*i+:4] == 4'(o)) taken[o] = 1'b1;
          if (c_valid[i] && c_port[4*i+:4] == 4'(o)) taken[o] = 1'b1;
        end
      end
    end
    occupied = taken;
  end

  for (genvar p = 0; p < PORTS; p++) begin : gen_port
    logic [3:0] to;  // output of this input's packet
    logic [PW-1:0] from;  // owner of this output
    switch_trace_t seen;
    switch_counts_t counted;
    assign to   = out[4*p+:4];
    assign from = owner[PW*p+:PW];

    sp_switch_input #(
        .PORTS(PORTS),
        .SELF (p)
    ) u_input (
        .clk(clk),
        .rst(rst),
        .present(present),
        .cfg_fall_through(cfg.fall_through),
        .fill(fill[8*p+:8]),
        .m_valid(m_valid[p]),
        .m_ready(m_ready[p]),
        .m_tail(m_tail[p]),
        .m_data(m_data[8*p+:8]),
        .request(request[p]),
        .request_port(request_port[4*p+:4]),
        .active(crossing[p] || queueing[p]),
        .x_valid(x_valid[p]),
        .x_ready(x_ready[p]),
        .x_tail(x_tail[p]),
        .x_data(x_data[8*p+:8]),
        .port(out[4*p+:4]),
        .gap_leaves(gap_leaves[p]),
        .ev_bad_route(ev_bad_route[p]),
        .ev_absent(ev_absent[p]),
        .tr_head(tr_head[p]),
        .tr_key(key[32*p+:32]),
        .busy(input_busy[p])
    );
    assign x_ready[p] = crossing[p] ? s_ready[to[PW-1:0]] : b_ready[p];

    sp_switch_collect u_collect (
        .clk(clk),
        .rst(rst),
        .b_valid(queueing[p] && x_valid[p]),
        .b_ready(b_ready[p]),
        .b_tail(x_tail[p]),
        .b_data(x_data[8*p+:8]),
        .b_port(to),
        .c_valid(c_valid[p]),
        .c_take(c_take[p]),
        .c_chunk(c_chunk[SP_CHUNK_BITS*p+:SP_CHUNK_BITS]),
        .c_port(c_port[4*p+:4]),
        .busy(collect_busy[p])
    );

    sp_switch_output u_output (
        .clk(clk),
        .rst(rst),
        .direct(direct[p]),
        .d_valid(x_valid[from]),
        .d_tail(x_tail[from]),
        .d_data(x_data[8*from+:8]),
        .n_load(n_load[p]),
        .n_chunk(n_chunk[SP_CHUNK_BITS*p+:SP_CHUNK_BITS]),
        .n_ready(n_ready[p]),
        .s_valid(s_valid[p]),
        .s_ready(s_ready[p]),
        .s_tail(s_tail[p]),
        .s_data(s_data[8*p+:8]),
        .pending(pending[p]),
        .busy(output_busy[p])
    );

    assign seen.head = tr_head[p];
    assign seen.grant = tr_crossed[p] || tr_placed[p];
    assign seen.queued = tr_queue[p];
    assign seen.tail = gap_leaves[p];
    assign seen.stall = queueing[p] && !attached[p];
    assign seen.illegal = ev_illegal[p];
    assign seen.overflow = ev_overflow[p];
    assign seen.out = to;
    assign seen.fill = fill[8*p+:8];
    assign seen.key = key[32*p+:32];
    assign counted.packets = packets[32*p+:32];
    assign counted.queued = queued[32*p+:32];
    assign counted.bad_route = bad_route[32*p+:32];
    assign counted.absent = absent[32*p+:32];
    assign counted.overflow = overflow[32*p+:32];
    assign counted.forward_reset = forward_reset[32*p+:32];
    assign port_trace[SWITCH_TRACE_BITS*p+:SWITCH_TRACE_BITS] = seen;
    assign port_counts[SWITCH_COUNTS_BITS*p+:SWITCH_COUNTS_BITS] = counted;
  end

  myri_counters #(
      .N(6 * PORTS)
  ) u_counters (
      .clk(clk),
      .rst(rst),
      .strobe({
        gap_leaves, gap_leaves & queueing, ev_bad_route, ev_absent, ev_forward_reset, ev_overflow
      }),
      .count({packets, queued, bad_route, absent, forward_reset, overflow})
  );
endmodule
