// Crossbar with traffic at every port, as a study runs it: settings are signals that Python writes between
// measurements.
module sim_switch_study #(
    parameter int PORTS = 8  // 4, 8 or 16
) (
    input  logic clk,
    input  logic rst,
    output logic awake  // sources run
);
  logic clear  /*verilator public_flat_rw*/ = 1'b1;  // hold sources and crossbar in reset
  logic enable  /*verilator public_flat_rw*/ = 1'b0;  // sources may start packets, the clock runs
  logic [31:0] seed  /*verilator public_flat_rw*/ = 32'd1;
  logic [16:0] load /*verilator public_flat_rw*/ = 17'd0;         // offered load, in 1/65536 of a character per clock
  logic [15:0] length  /*verilator public_flat_rw*/ = 16'd64;  // characters of a packet
  logic self_too  /*verilator public_flat_rw*/ = 1'b1;  // destinations include the own port
  logic [7:0] fall_through  /*verilator public_flat_rw*/ = 8'd0;
  logic [47:0] chars  /*verilator public_flat_rd*/;
  logic [47:0] packets  /*verilator public_flat_rd*/;
  logic [47:0] offered  /*verilator public_flat_rd*/;
  logic [47:0] backlog  /*verilator public_flat_rd*/;
  logic [47:0] errors  /*verilator public_flat_rd*/;
  logic [47:0] clocks  /*verilator public_flat_rd*/;
  assign awake = enable;
  sim_switch_bench #(
      .PORTS(PORTS)
  ) bench (
      .clk,
      .rst(rst | clear),
      .enable,
      .cfg_seed(seed),
      .cfg_load(load),
      .cfg_length(length),
      .cfg_self(self_too),
      .cfg_fall_through(fall_through),
      .cycle(clocks),
      .port_offered(),
      .port_backlog(),
      .port_received_chars(),
      .port_received(),
      .port_crc_errors(),
      .port_overflow(),
      .total_chars(chars),
      .total_packets(packets),
      .total_offered(offered),
      .total_backlog(backlog),
      .total_errors(errors)
  );
endmodule
