// Crossing of a level from one clock to another, with every change in order.
//
// Timing: a change appears on the other side after the latency of the crossing plus one edge.
module myri_level_cross #(
    parameter bit RELATED = 0  // see myri_cdc_fifo
) (
    input  logic [3:0] cfg_latency,  // latency of the crossing
    input  logic       w_clk,        // clock of the source
    input  logic       w_rst,        // synchronous reset
    input  logic       w_level,      // the level; 0 is assumed at reset
    output logic       w_busy,       // source side: 1 = a further edge is needed
    input  logic       r_clk,        // clock of the other side
    input  logic       r_rst,        // synchronous reset
    output logic       r_level,      // the level on the other side
    output logic       r_busy        // destination side: 1 = a further edge is needed
);
  logic sent_q;
  logic change;
  logic w_ready;
  logic r_valid;
  logic r_data;
  logic cross_busy;

  assign change = w_level != sent_q;
  assign w_busy = cross_busy || (change && w_ready);

  always_ff @(posedge w_clk) begin
    if (w_rst) sent_q <= 1'b0;
    else if (change && w_ready) sent_q <= w_level;
  end

  always_ff @(posedge r_clk) begin
    if (r_rst) r_level <= 1'b0;
    else if (r_valid) r_level <= r_data;
  end

  myri_cdc_fifo #(
      .WIDTH(1),
      .DEPTH_LOG2(2),
      .RELATED(RELATED)
  ) u_fifo (
      .cfg_latency,
      .w_clk,
      .w_rst,
      .w_ready,
      .r_clk,
      .r_rst,
      .r_valid,
      .r_data,
      .r_busy,
      .w_valid(change),
      .w_data (w_level),
      .w_busy (cross_busy),
      .r_ready(1'b1)
  );
endmodule
