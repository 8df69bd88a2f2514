// Arbiter of the adapter's internal bus: one 64-bit access at a time.
//
// Requesters: PIO of the host, the two directions of the right engine (equal, round robin), and the processor, which
// alternates with them. An access occupies the bus for a set number of NIC clocks. An access of the processor does so
// only if another requester waits, so that a processor alone on the bus leaves no state that a stopped clock would
// miss. Timing: grant in the clock of the request.
// Clock gating: `busy` follows the engines, not the processor, which keeps the clock running itself.
module sp_bus (
    input logic clk,  // NIC clock
    input logic rst,  // synchronous reset
    input  logic [7:0] cfg_beat,    // NIC clocks that a beat of the right engine keeps the bus, 1 at least
    input  logic [7:0] cfg_access,  // NIC clocks that an access of host or processor keeps it, 1 at least
    input logic pio_req,  // host PIO and doorbells: request
    output logic pio_gnt,  // granted in this clock
    input logic tx_req,  // right engine, Send FIFO to link interface
    output logic tx_gnt,  // grant
    input logic rx_req,  // right engine, link interface to Recv/Cmd FIFO
    output logic rx_gnt,  // grant
    input logic cpu_req,  // processor
    output logic cpu_gnt,  // grant
    output logic busy  // 1 = a further clock edge is needed
);
  logic [7:0] held_q;  // clocks for which the current access still keeps the bus
  logic       cpu_turn_q;  // the processor has priority over the engines
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
