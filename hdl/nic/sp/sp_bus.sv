// Arbiter of the adapter's internal bus: one access at a time, of 64 bits.
//
// Requesters: PIO of the host, the right engine's two directions (equals, round robin), and the processor,
// which takes turns with them. An access keeps the bus for so many NIC clocks; the processor's does so only
// when somebody waits for it, so that a processor alone on the bus leaves no trace that a sleeping clock
// would miss. Timing: grant in the clock of the request.
// Sleeping: `busy` follows the engines, not the processor, which keeps the clock awake itself.
module sp_bus (
    input logic clk,  // NIC clock
    input logic rst,  // synchronous reset
    input  logic [7:0] cfg_beat,    // NIC clocks that a beat of the right engine keeps the bus, 1 at least
    input  logic [7:0] cfg_access,  // NIC clocks that an access of host or processor keeps it, 1 at least
    input logic pio_req,  // host PIO and doorbells: request
    output logic pio_gnt,  // granted in this clock
    input logic tx_req,  // right engine, Send FIFO to link interface
    output logic tx_gnt,  // granted
    input logic rx_req,  // right engine, link interface to Recv/Cmd FIFO
    output logic rx_gnt,  // granted
    input logic cpu_req,  // processor
    output logic cpu_gnt,  // granted
    output logic busy  // another edge is needed
);
  logic [7:0] held_q;  // clocks that the access in work still keeps the bus
  logic       cpu_turn_q;  // the processor comes before the engines
  logic [2:0] request;
  logic [2:0] grant;
  logic       open;  // an engine gets the bus in this clock
  logic       single;

  assign request = {rx_req, tx_req, pio_req};
  assign open = held_q == 8'd0 && request != 3'd0 && !(cpu_req && cpu_turn_q);
  assign {rx_gnt, tx_gnt, pio_gnt} = open ? grant : 3'd0;
  assign cpu_gnt = cpu_req && held_q == 8'd0 && (request == 3'd0 || cpu_turn_q);
  assign single = pio_gnt || cpu_gnt;
  assign busy = held_q != 8'd0 || request != 3'd0;

  myri_rr_arbiter #(
      .N(3)
  ) u_turn (
      .clk,
      .rst,
      .request,
      .grant,
      .take(open)
  );

  always_ff @(posedge clk) begin
    if (rst) begin
      held_q <= 8'd0;
      cpu_turn_q <= 1'b0;
    end else begin
      if (held_q != 8'd0) held_q <= held_q - 8'd1;
      else if (request != 3'd0) held_q <= (single ? cfg_access : cfg_beat) - 8'd1;
      if (request != 3'd0 && held_q == 8'd0) cpu_turn_q <= open;
    end
  end
endmodule
