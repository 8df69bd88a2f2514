// Who owns a bank of SRAM: the bus side, or the FPGA when it has asked and the bus side is not using it.
//
// The FPGA asks (`want`), is granted, releases, and asks again only after it has seen the grant fall. The bus side owns
// the bank whenever the FPGA does not; an access or a hold of the bus side keeps it for cfg_linger clocks more, so that
// a burst is not torn. A bus access that must wait longer than cfg_patience clocks is an event (0: never).
// Timing: a grant is two crossings after the request. The requester keeps the clock awake until its access is done.
module myri_card_bank (
    input logic clk,  // PCI clock
    input logic rst,  // synchronous reset
    input logic [3:0] cfg_latency,  // of the crossings
    input logic [7:0] cfg_linger,  // clocks that the bus side keeps the bank after an access
    input  logic [15:0] cfg_patience,  // clocks that a bus access waits before ev_patience; 0 = for ever
    input logic access,  // the bus side wants to access the bank now
    input logic hold,  // the bus side keeps the bank
    output logic host_owns,  // the bus side may access it
    output logic ev_patience,  // strobe: a bus access has waited too long
    input logic f_clk,  // fabric clock
    input logic f_rst,  // synchronous reset
    input logic want,  // the FPGA wants it, or still has it
    output logic granted,  // it has it
    output logic busy,  // PCI side needs another edge
    output logic f_busy  // fabric side needs another edge
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
