// Crossing of event strobes from one clock to another. No event is lost; repeated ones may be merged.
//
// Events that arrive while the crossing is full are collected and sent with the next entry.
// Timing: an event appears as a one-clock strobe on the other side after the latency of the crossing.
module myri_event_cross #(
    parameter int N       = 4,  // number of events
    parameter bit RELATED = 0   // see myri_cdc_fifo
) (
    input  logic [  3:0] cfg_latency,  // latency of the crossing
    input  logic         w_clk,        // clock of the sources
    input  logic         w_rst,        // synchronous reset
    input  logic [N-1:0] w_event,      // strobes
    output logic         w_busy,       // source side: 1 = a further edge is needed
    input  logic         r_clk,        // clock of the strobes given
    input  logic         r_rst,        // synchronous reset
    output logic [N-1:0] r_event,      // strobes
    output logic         r_busy        // destination side: 1 = a further edge is needed
);
  logic [N-1:0] pending_q;
  logic [N-1:0] events;
  logic [N-1:0] r_data;
  logic         w_ready;
  logic         r_valid;
  logic         cross_busy;

  assign events  = pending_q | w_event;
  assign w_busy  = cross_busy || w_event != '0;
  assign r_event = r_valid ? r_data : '0;

  always_ff @(posedge w_clk) begin
    if (w_rst || w_ready) pending_q <= '0;
    else pending_q <= events;
  end

  myri_cdc_fifo #(
      .WIDTH(N),
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
      .w_valid(events != '0),
      .w_data (events),
      .w_busy (cross_busy),
      .r_ready(1'b1)
  );
endmodule
