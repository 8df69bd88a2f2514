// Two link ports back to back over two cables, ends a and b, for the link bench.
//
// Timing: see myri_link_port and myri_cable. `ab_*` acts at the end of the wire from a to b: with ab_force the
// character is replaced by ab_char and a lasting STOP ends; likewise `ba_*`. BEATs of an end with a stopped clock are
// inserted before that (sim_beats); because a bench's `cycle` runs on meanwhile, both ends have an edge in each of
// these slots.
module sim_link_pair
  import myri_sleep_pkg::*;
  import myri_settings_pkg::*;
  import myri_link_pkg::*;
  import myri_symbol_pkg::*;
(
    input  logic                  clk,               // character clock
    input  logic                  rst,               // synchronous reset
    input  logic           [47:0] cycle,             // absolute index of the coming edge
    input  logic           [ 7:0] cfg_delay,         // characters in each cable
    input  logic                  cfg_lasting,       // 0: STOP lasts only if it is repeated
    input  link_settings_t        cfg,               // of both ports
    input  logic           [ 1:0] cfg_beats,         // the ends of {b, a} that send BEATs
    input  logic                  ab_force,          // faults on the wire from a to b
    input  logic           [ 8:0] ab_char,           // the character instead
    input  logic                  ba_force,          // and from b to a
    input  logic           [ 8:0] ba_char,           // the character instead
    input  logic                  a_s_valid,         // streams of end a
    output logic                  a_s_ready,         // stream into the port a: ready
    input  logic                  a_s_tail,          // stream into the port a: tail
    input  logic           [ 7:0] a_s_data,          // stream into the port a: data
    output logic                  a_m_valid,         // stream out of the port a: valid
    input  logic                  a_m_ready,         // stream out of the port a: ready
    output logic                  a_m_tail,          // stream out of the port a: tail
    output logic           [ 7:0] a_m_data,          // stream out of the port a: data
    input  logic                  b_s_valid,         // streams of end b
    output logic                  b_s_ready,         // stream into the port b: ready
    input  logic                  b_s_tail,          // stream into the port b: tail
    input  logic           [ 7:0] b_s_data,          // stream into the port b: data
    output logic                  b_m_valid,         // stream out of the port b: valid
    input  logic                  b_m_ready,         // stream out of the port b: ready
    output logic                  b_m_tail,          // stream out of the port b: tail
    output logic           [ 7:0] b_m_data,          // stream out of the port b: data
    output logic           [ 8:0] a_tx,              // the wires, before the cables
    output logic           [ 8:0] b_tx,              // the wire out of b
    output logic           [ 1:0] stopped,           // status of {b, a}
    output logic           [ 1:0] stopping,          // STOP in force at the receiver
    output logic           [15:0] fill,              // slack fill
    output logic           [ 1:0] ev_overflow,       // strobes of {b, a}
    output logic           [ 1:0] ev_illegal,        // strobes of {b, a}
    output logic           [ 1:0] ev_forward_reset,  // strobes of {b, a}
    output logic           [ 1:0] ev_short_timeout,  // strobes of {b, a}
    output logic           [ 1:0] beat_seen,         // levels of {b, a}
    output logic           [ 1:0] beat_missed,       // levels of {b, a}
    output logic           [ 1:0] link_down,         // levels of {b, a}
    output logic                  busy,              // 1 = a further clock edge is needed
    output alarm_t                alarm              // edge at which the clock must run
);
  logic [17:0] tx;
  logic [17:0] arrived;
  logic [17:0] shown;
  logic [17:0] rx;
  logic [1:0] lasting;  // STOP of the other end is in force
  logic [1:0] stop_lasts;
  logic [1:0] port_busy;
  logic [1:0] cable_busy;
  logic [1:0] beats_busy;
  logic [1:0] force_last_q;
  logic [48:0] first[0:1];  // alarm of an end
  logic [1:0] s_valid;
  logic [1:0] s_ready;
  logic [1:0] s_tail;
  logic [15:0] s_data;
  logic [1:0] m_valid;
  logic [1:0] m_ready;
  logic [1:0] m_tail;
  logic [15:0] m_data;

  assign {b_tx, a_tx} = tx;
  assign s_valid = {b_s_valid, a_s_valid};
  assign s_tail = {b_s_tail, a_s_tail};
  assign s_data = {b_s_data, a_s_data};
  assign m_ready = {b_m_ready, a_m_ready};
  assign {b_s_ready, a_s_ready} = s_ready;
  assign {b_m_valid, a_m_valid} = m_valid;
  assign {b_m_tail, a_m_tail} = m_tail;
  assign {b_m_data, a_m_data} = m_data;
  assign rx = {ab_force ? ab_char : shown[17:9], ba_force ? ba_char : shown[8:0]};
  assign stop_lasts = {
    cfg_lasting && !ab_force && lasting[1], cfg_lasting && !ba_force && lasting[0]
  };
  assign busy = (port_busy | cable_busy | beats_busy) != 2'd0 || ab_force || ba_force;
  assign alarm = earlier(first[0], first[1]);
  always_ff @(posedge clk) force_last_q <= rst ? 2'd0 : {ab_force, ba_force};

  for (genvar i = 0; i < 2; i++) begin : gen_end
    sleep_t port_sleep;
    link_status_t status;
    assign {stopped[i], stopping[i], fill[8*i+:8]} = {status.stopped, status.stopping, status.fill};
    assign {ev_overflow[i], ev_illegal[i]} = {status.overflow, status.illegal};
    assign {ev_forward_reset[i], ev_short_timeout[i]} = {
      status.forward_reset, status.short_timeout
    };
    assign {beat_seen[i], beat_missed[i], link_down[i]} = {
      status.beat_seen, status.beat_missed, status.link_down
    };
    alarm_t beat_alarm;
    link_settings_t own;
    always_comb begin
      own = cfg;
      if (!cfg_beats[i]) own.beat_period = 32'd0;
    end
    assign first[i] = earlier(port_sleep.alarm, beat_alarm);
    assign port_busy[i] = port_sleep.busy;
    myri_link_port u_port (
        .clk(clk),
        .rx_clk(clk),
        .tx_clk(clk),
        .rx_needed(),
        .tx_needed(),
        .rst(rst),
        .cycle(cycle),
        .rx(rx[9*i+:9]),
        .tx(tx[9*i+:9]),
        .stop_lasts(stop_lasts[i]),
        .cfg(own),
        .s_valid(s_valid[i]),
        .s_ready(s_ready[i]),
        .s_tail(s_tail[i]),
        .s_data(s_data[8*i+:8]),
        .m_valid(m_valid[i]),
        .m_ready(m_ready[i]),
        .m_tail(m_tail[i]),
        .m_data(m_data[8*i+:8]),
        .status(status),
        .sleep(port_sleep)
    );

    // The cable from end i leads to end 1 - i.
    myri_cable u_cable (
        .clk(clk),
        .rst(rst),
        .in(tx[9*i+:9]),
        .cfg_delay(cfg_delay),
        .out(arrived[9*(1-i)+:9]),
        .busy(cable_busy[i]),
        .flying(),
        .delayed()
    );
    sim_lasting u_lasting (
        .clk(clk),
        .rst(rst),
        .character(arrived[9*i+:9]),
        .stop_lasts(lasting[i])
    );

    // The BEATs of the other end, in the slot that this end samples.
    logic beat_due;
    assign shown[9*i+:9] = beat_due && arrived[9*i+:9] == IDLE ? BEAT : arrived[9*i+:9];
    sim_beats u_beats (
        .*,
        .cfg_beat_period(cfg.beat_period),
        .present(cfg_beats[1-i]),
        .struck(force_last_q[i]),
        .due(beat_due),
        .busy(beats_busy[i]),
        .alarm(beat_alarm)
    );
  end
endmodule
