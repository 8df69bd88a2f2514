// Link port that sends back what it receives, as the link agents of sanlab.agents bind it.
module sim_link_loop
  import myri_sleep_pkg::*;
  import myri_settings_pkg::*;
  import myri_link_pkg::*;
(
    input logic clk,  // character clock
    input logic rst,  // synchronous, active high
    input link_settings_t cfg,  // settings of the port
    input logic hold,  // 1 = nothing leaves the slack buffer
    input logic [8:0] rx,  // characters to the port
    output logic [8:0] tx,  // characters of the port
    output link_status_t status  // state and events
);
  logic [47:0] cycle;
  logic valid, ready, tail;
  logic [7:0] data;

  always_ff @(posedge clk) cycle <= rst ? 48'd0 : cycle + 48'd1;

  myri_link_port u_port (
      .clk,
      .rx_clk(clk),
      .tx_clk(clk),
      .rst,
      .cycle,
      .rx,
      .tx,
      .stop_lasts(1'b0),
      .cfg,
      .s_valid(valid && !hold),
      .s_ready(ready),
      .s_tail(tail),
      .s_data(data),
      .m_valid(valid),
      .m_ready(ready && !hold),
      .m_tail(tail),
      .m_data(data),
      .status,
      .rx_needed(),
      .tx_needed(),
      .sleep()
  );
endmodule
