// Arbiter of one SRAM bank between the bus side and the FPGA.
//
// The FPGA requests the bank (`want`), is granted, releases, and requests again only after the grant has fallen. The
// bus side owns the bank whenever the FPGA does not. After an access or a hold, the bus side keeps the bank for
// cfg_linger more clocks, so that a burst is not interrupted. A bus access that waits longer than cfg_patience clocks
// raises ev_patience (0: never).
// Timing: a grant takes two crossings from the request. The requester keeps its clock running until its access is done.
module myri_card_bank (
    input logic clk,  // PCI clock
    input logic rst,  // synchronous reset
    input logic [3:0] cfg_latency,  // latency of the crossings
    input logic [7:0] cfg_linger,  // clocks for which the bus side keeps the bank after an access
    input  logic [15:0] cfg_patience,  // clocks that a bus access waits before ev_patience; 0 = no limit
    input logic access,  // the bus side requests an access now
    input logic hold,  // the bus side holds the bank
    output logic host_owns,  // the bus side owns the bank
    output logic ev_patience,  // strobe: a bus access has exceeded cfg_patience
    input logic f_clk,  // fabric clock
    input logic f_rst,  // synchronous reset
    input logic want,  // the FPGA requests or still uses the bank
    output logic granted,  // the FPGA owns the bank
    output logic busy,  // PCI side: 1 = a further edge is needed
    output logic f_busy  // fabric side: 1 = a further edge is needed
);
  logic wanted, grant_q, want_busy, grant_busy;
  logic [ 7:0] linger_q;
  logic [15:0] waited_q;

  assign host_owns = !grant_q;
  assign busy = want_busy || grant_busy || linger_q != '0 || (wanted && !grant_q && !hold) || (grant_q && !wanted);

  always_ff @(posedge clk) begin
    if (rst) grant_q <= 1'b0;
    else if (grant_q) grant_q <= wanted;
    else grant_q <= wanted && !access && !hold && linger_q == '0;
  end

  always_ff @(posedge clk) begin
    if (rst) linger_q <= '0;
    else if (access && host_owns) linger_q <= cfg_linger;
    else if (linger_q != '0) linger_q <= linger_q - 8'd1;
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      waited_q <= '0;
      ev_patience <= 1'b0;
    end else begin
      waited_q <= access && grant_q ? waited_q + 16'd1 : '0;
      ev_patience <= cfg_patience != '0 && access && grant_q && waited_q == cfg_patience;
    end
  end

  logic f_want_busy, f_grant_busy;
  assign f_busy = f_want_busy || f_grant_busy;

  myri_level_cross u_want (
      .cfg_latency,
      .w_clk  (f_clk),
      .w_rst  (f_rst),
      .w_level(want),
      .w_busy (f_want_busy),
      .r_clk  (clk),
      .r_rst  (rst),
      .r_level(wanted),
      .r_busy (want_busy)
  );
  myri_level_cross u_grant (
      .cfg_latency,
      .w_clk  (clk),
      .w_rst  (rst),
      .w_level(grant_q),
      .w_busy (grant_busy),
      .r_clk  (f_clk),
      .r_rst  (f_rst),
      .r_level(granted),
      .r_busy (f_grant_busy)
  );
endmodule
