// Top of a board with NICs: one node whose cable leads back to it (TOP_LOOPBACK), or two nodes at a switch (TOP_PAIR).
//
// Clocks come from outside, a PLL on a board; they may be unrelated. Settings are static. Nodes and switch start in
// reset, until the host clears RESET.
module myri_board_cluster
  import myri_board_pkg::*;
  import myri_settings_pkg::*;
#(
    parameter logic [7:0] TOP = TOP_PAIR,  // TOP_LOOPBACK or TOP_PAIR
    parameter bit CORE = 1'b1,  // the NICs have processors
    parameter int SRAM_LOG2 = 16,  // bytes of a NIC's SRAM
    parameter int MEMORY_LOG2 = 16,  // bytes of a host's memory
    parameter int RING_LOG2 = 10,  // records of the trace ring
    parameter int DIVISOR = 25,  // bus clocks of a bit on the serial line
    parameter int TIMEOUT = 2500000  // inactivity time-out of the serial line, bus clocks
) (
    input logic arst_n,  // asynchronous reset, active low
    input logic bus_clk,  // bus clock: serial line, registers, trace ring
    input logic nic_clk,  // NIC clock: NIC, PCI bus, processor, memories
    input logic link_clk,  // link clock: characters, switch
    input logic rxd,  // serial line from the host
    output logic txd,  // serial line to the host
    output logic [7:0] led,  // see the assignment
    input board_identity_t identity,  // hash and frequencies
    input nic_settings_t cfg_nic,  // of each NIC
    input host_bridge_settings_t cfg_bridge,  // of each PCI segment
    input core_settings_t cfg_core,  // of each processor
    input switch_settings_t cfg_switch,  // of the switch
    input logic [7:0] cfg_cable_delay  // of each direction of a cable, characters
);
  localparam int NODES = TOP == TOP_LOOPBACK ? 1 : 2;
  localparam int TRACES = TOP == TOP_LOOPBACK ? 2 : 5;

  logic bus_rst, nic_rst, link_rst, run, latch;
  logic [ 1:0] latched_valid;
  logic [95:0] latched;
  logic [47:0] nic_cycle, link_cycle;
  logic bus_write;
  logic [31:0] bus_addr, bus_wdata;
  logic [NODES-1:0] node_valid, node_ready, node_error, fault, fault_seen;
  logic [32*NODES-1:0] node_rdata;
  logic [COMPARATORS*NODES-1:0] hits;
  logic [TRACES-1:0] record_valid, record_ready;
  logic [RECORD_BITS*TRACES-1:0] records;
  logic [9*NODES-1:0] tx, far_tx;
  logic [24:0] beat_q;

  // A heartbeat, the serial line, reset of the nodes, and halted processors.
  assign led = {beat_q[24], !rxd, !txd, run, 4'(fault_seen)};
  always_ff @(posedge bus_clk) beat_q <= bus_rst ? 25'd0 : beat_q + 25'd1;

  myri_board_clocks u_clocks (
      .arst_n(arst_n),
      .bus_clk(bus_clk),
      .bus_reset(bus_rst),
      .run(run),
      .latch(latch),
      .latched_valid(latched_valid),
      .latched(latched),
      .nic_clk(nic_clk),
      .nic_reset(nic_rst),
      .nic_cycle(nic_cycle),
      .link_clk(link_clk),
      .link_reset(link_rst),
      .link_cycle(link_cycle)
  );
  myri_board_shell #(
      .TOP(TOP),
      .NODES(NODES),
      .TRACES(TRACES),
      .CORE(CORE),
      .SRAM_LOG2(SRAM_LOG2),
      .MEMORY_LOG2(MEMORY_LOG2),
      .RING_LOG2(RING_LOG2),
      .DIVISOR(DIVISOR),
      .TIMEOUT(TIMEOUT)
  ) u_shell (
      .bus_clk(bus_clk),
      .bus_rst(bus_rst),
      .rxd(rxd),
      .txd(txd),
      .identity(identity),
      .run(run),
      .node_valid(node_valid),
      .node_ready(node_ready),
      .bus_write(bus_write),
      .bus_addr(bus_addr),
      .bus_wdata(bus_wdata),
      .node_rdata(node_rdata),
      .node_error(node_error),
      .nic_hits(hits),
      .record_valid(record_valid),
      .record_ready(record_ready),
      .records(records),
      .latch(latch),
      .latched_valid(latched_valid),
      .latched(latched)
  );

  for (genvar n = 0; n < NODES; n++) begin : gen_node
    myri_board_level u_fault (
        .clk(bus_clk),
        .rst(bus_rst),
        .d  (fault[n]),
        .q  (fault_seen[n])
    );
    myri_board_node #(
        .NODE(n),
        .CORE(CORE),
        .SRAM_LOG2(SRAM_LOG2),
        .MEMORY_LOG2(MEMORY_LOG2)
    ) u_node (
        .bus_clk(bus_clk),
        .bus_rst(bus_rst),
        .run(run),
        .nic_clk(nic_clk),
        .nic_rst(nic_rst),
        .nic_cycle(nic_cycle),
        .link_clk(link_clk),
        .link_rst(link_rst),
        .link_cycle(link_cycle),
        .cfg_nic(cfg_nic),
        .cfg_bridge(cfg_bridge),
        .cfg_core(cfg_core),
        .cfg_cable_delay(cfg_cable_delay),
        .far_tx(far_tx[9*n+:9]),
        .tx(tx[9*n+:9]),
        .bus_valid(node_valid[n]),
        .bus_ready(node_ready[n]),
        .bus_write(bus_write),
        .bus_addr(bus_addr),
        .bus_wdata(bus_wdata),
        .bus_rdata(node_rdata[32*n+:32]),
        .bus_error(node_error[n]),
        .hits(hits[COMPARATORS*n+:COMPARATORS]),
        .record_valid(record_valid[2*n+:2]),
        .record_ready(record_ready[2*n+:2]),
        .records(records[2*RECORD_BITS*n+:2*RECORD_BITS]),
        .fault(fault[n])
    );
  end

  if (TOP == TOP_LOOPBACK) begin : gen_loopback
    assign far_tx = tx;
    logic unused;
    assign unused = ^cfg_switch;
  end else begin : gen_switch
    myri_board_switch #(
        .PORTS(4),
        .NODES(NODES)
    ) u_switch (
        .link_clk(link_clk),
        .link_rst(link_rst),
        .link_cycle(link_cycle),
        .cfg(cfg_switch),
        .cfg_cable_delay(cfg_cable_delay),
        .far_tx(tx),
        .tx(far_tx),
        .bus_clk(bus_clk),
        .bus_rst(bus_rst || !run),
        .record_valid(record_valid[4]),
        .record_ready(record_ready[4]),
        .record(records[RECORD_BITS*4+:RECORD_BITS])
    );
  end
endmodule
