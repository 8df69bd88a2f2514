// Who owns a bank of SRAM: the bus side, or the FPGA when it has asked and the bus side is not using it.
//
// The FPGA asks (`want`), is granted, releases, and asks again only after it has seen the grant fall. The bus side owns
// the bank whenever the FPGA does not; an access or a hold of the bus side keeps it for cfg_linger clocks more, so that
// a burst is not torn. A bus access that must wait longer than cfg_patience clocks is an event (0: never).
// Timing: a grant is two crossings after the wish. Whoever makes an access keeps the clock awake until it is done.
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
  logic wanted, grant, want_busy, grant_busy;
  logic [ 7:0] linger;
  logic [15:0] waited;

  assign host_owns = !grant;
  assign busy = want_busy || grant_busy || linger != '0 || (wanted && !grant && !hold) || (grant && !wanted);

  always_ff @(posedge clk) begin
    if (rst) grant <= 1'b0;
    else if (grant) grant <= wanted;
    else grant <= wanted && !access && !hold && linger == '0;
  end

  always_ff @(posedge clk) begin
    if (rst) linger <= '0;
    else if (access && host_owns) linger <= cfg_linger;
    else if (linger != '0) linger <= linger - 8'd1;
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      waited <= '0;
      ev_patience <= 1'b0;
    end else begin
      waited <= access && grant ? waited + 16'd1 : '0;
      ev_patience <= cfg_patience != '0 && access && grant && waited == cfg_patience;
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
      .w_level(grant),
      .w_busy (grant_busy),
      .r_clk  (f_clk),
      .r_rst  (f_rst),
      .r_level(granted),
      .r_busy (f_grant_busy)
  );
endmodule
