// Resets and cycle counters of the clocks of a board's nodes.
//
// Timing: see myri_board_hold and myri_board_cycle.
module myri_board_clocks (
    input logic arst_n,  // asynchronous reset, active low
    input logic bus_clk,  // bus clock
    output logic bus_reset,  // its reset
    input logic run,  // bus clock: the host has released the reset of the nodes
    input logic latch,  // bus clock: each change latches the counters
    output logic [1:0] latched_valid,  // a latched value is offered: NIC, link
    output logic [95:0] latched,  // the values, NIC lowest
    input logic nic_clk,  // NIC clock
    output logic nic_reset,  // reset of the nodes
    output logic [47:0] nic_cycle,  // index of its coming edge
    input logic link_clk,  // link clock
    output logic link_reset,  // reset of links and switches
    output logic [47:0] link_cycle  // index of its coming edge
);
  myri_reset u_bus (
      .clk(bus_clk),
      .any_rst(!arst_n),
      .reset(bus_reset)
  );
  myri_board_hold u_nic (
      .clk(nic_clk),
      .arst_n(arst_n),
      .run(run),
      .reset(nic_reset)
  );
  myri_board_hold u_link (
      .clk(link_clk),
      .arst_n(arst_n),
      .run(run),
      .reset(link_reset)
  );
  myri_board_cycle u_nic_cycle (
      .clk(nic_clk),
      .rst(nic_reset),
      .cycle(nic_cycle),
      .latch(latch),
      .bus_clk(bus_clk),
      .bus_rst(bus_reset || !run),
      .latched_valid(latched_valid[0]),
      .latched(latched[47:0])
  );
  myri_board_cycle u_link_cycle (
      .clk(link_clk),
      .rst(link_reset),
      .cycle(link_cycle),
      .latch(latch),
      .bus_clk(bus_clk),
      .bus_rst(bus_reset || !run),
      .latched_valid(latched_valid[1]),
      .latched(latched[95:48])
  );
endmodule
