// Switch of a board: the crossbar, its arriving cables, and its trace. Ports from NODES on have no cable.
//
// Timing: as myri_switch; a cable adds its delay and one edge.
module myri_board_switch
  import myri_board_pkg::*;
  import myri_settings_pkg::*;
  import myri_switch_pkg::*;
  import myri_symbol_pkg::*;
#(
    parameter int PORTS = 4,  // ports of the switch: 4, 8 or 16
    parameter int NODES = 2   // ports in use, from port 0
) (
    input logic link_clk,  // link clock
    input logic link_rst,  // synchronous reset
    input logic [47:0] link_cycle,  // index of the coming edge
    input switch_settings_t cfg,  // settings; static
    input logic [7:0] cfg_cable_delay,  // of each arriving cable, characters
    input logic [9*NODES-1:0] far_tx,  // characters that enter the arriving cables
    output logic [9*NODES-1:0] tx,  // characters of the ports
    input logic bus_clk,  // bus clock
    input logic bus_rst,  // synchronous reset of the trace's bus side
    output logic record_valid,  // a trace record in the bus clock
    input logic record_ready,  // taken at the coming edge
    output board_record_t record  // the record
);
  localparam int KINDS = 4;  // sources of each port
  localparam int SOURCES = KINDS * NODES;
  localparam logic [PORTS-1:0] PRESENT = PORTS'((1 << NODES) - 1);

  logic [9*PORTS-1:0] rx, all_tx;
  logic [SWITCH_TRACE_BITS*PORTS-1:0] port_trace;
  logic [NODES-1:0] stalled_q;  // stall of each port as of the last edge
  logic [SOURCES-1:0] strobe;
  logic [EVENT_BITS*SOURCES-1:0] events;
  assign rx[9*PORTS-1:9*NODES] = {(PORTS - NODES) {IDLE}};
  assign tx = all_tx[9*NODES-1:0];

  for (genvar p = 0; p < NODES; p++) begin : gen_port
    localparam logic [19:0] UNIT = 20'(SWITCH_BASE + p);
    switch_trace_t seen;
    logic [31:0] port;
    logic unused_seen;
    assign seen = port_trace[SWITCH_TRACE_BITS*p+:SWITCH_TRACE_BITS];
    assign port = {28'd0, seen.out};
    assign unused_seen = ^seen;
    always_ff @(posedge link_clk) stalled_q[p] <= !link_rst && seen.stall;
    assign strobe[KINDS*p+:KINDS] = {seen.stall != stalled_q[p], seen.tail, seen.grant, seen.head};
    assign events[EVENT_BITS*KINDS*p+:EVENT_BITS*KINDS] = {
      {seen.stall ? EV_STALL_START : EV_STALL_END, UNIT, 32'd0, port, 64'd0},
      {EV_SWITCH_TAIL, UNIT, seen.key, port, 64'd0},
      {EV_SWITCH_GRANT, UNIT, 32'd0, port, 64'd0},
      {EV_SWITCH_HEAD, UNIT, 32'd0, port, 64'd0}
    };
    myri_board_cable u_cable (
        .clk(link_clk),
        .rst(link_rst),
        .cfg_delay(cfg_cable_delay),
        .tx(far_tx[9*p+:9]),
        .rx(rx[9*p+:9])
    );
  end

  myri_switch #(
      .PORTS(PORTS)
  ) u_switch (
      .clk(link_clk),
      .gated_clk({PORTS{link_clk}}),
      .rst(link_rst),
      .cycle(link_cycle),
      .rx(rx),
      .tx(all_tx),
      .stop_lasts({PORTS{1'b0}}),
      .present(PRESENT),
      .cfg(cfg),
      .port_trace(port_trace),
      .port_counts(),
      .gated_needed(),
      .sleep()
  );
  myri_board_traced #(
      .SOURCES(SOURCES),
      .CLOCK  (CLOCK_LINK)
  ) u_trace (
      .src_clk(link_clk),
      .src_rst(link_rst),
      .cycle(link_cycle),
      .strobe(strobe),
      .events(events),
      .bus_clk(bus_clk),
      .bus_rst(bus_rst),
      .record_valid(record_valid),
      .record_ready(record_ready),
      .record(record)
  );

  logic unused;
  assign unused = ^{all_tx, port_trace};
endmodule
