// Cycle counter of one clock, and its value at a time that the bus clock chooses.
//
// Timing: `cycle` is the index of the coming edge, 0 at the first edge after reset. `latched` is the index of the third
// edge after a change of `latch`: two edges synchronise the change, the third writes. The change is therefore 2 to 3
// clocks before that edge, 2.5 on average over all phases. `latched_valid` is then offered in the bus clock.
module myri_board_cycle (
    input logic clk,  // the counted clock
    input logic rst,  // synchronous reset
    output logic [47:0] cycle,  // index of the coming edge
    input logic latch,  // register of the bus clock: each change latches the counter
    input logic bus_clk,  // bus clock
    input logic bus_rst,  // synchronous reset of the crossing's bus side
    output logic latched_valid,  // a latched value is offered; it is taken at once
    output logic [47:0] latched  // the value
);
  logic seen, seen_q;

  always_ff @(posedge clk) begin
    if (rst) begin
      cycle  <= 48'd0;
      seen_q <= 1'b0;
    end else begin
      cycle  <= cycle + 48'd1;
      seen_q <= seen;
    end
  end

  myri_board_level u_latch (
      .clk(clk),
      .rst(rst),
      .d  (latch),
      .q  (seen)
  );
  myri_cdc_fifo #(
      .WIDTH(48),
      .DEPTH_LOG2(1)
  ) u_latched (
      .cfg_latency(4'd1),
      .w_clk(clk),
      .w_rst(rst),
      .w_valid(seen != seen_q),
      .w_ready(),
      .w_data(cycle),
      .w_busy(),
      .r_clk(bus_clk),
      .r_rst(bus_rst),
      .r_valid(latched_valid),
      .r_ready(1'b1),
      .r_data(latched),
      .r_busy()
  );
endmodule
