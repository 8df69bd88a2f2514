// Arbiter of an SP switch between cut-through and the central queue: per output, a packet that requests a free output
// owns it until its GAP leaves; any other packet goes to the central queue, chunk by chunk.
//
// Timing: decided at the edge at which the request is valid; simultaneous requests are served round robin. An output is
// free at the edge at which the GAP of its owner leaves.
module sp_switch_grant #(
    parameter int PORTS = 8  // ports of the switch: 4, 8 or 16
) (
    input logic clk,  // character clock
    input logic rst,  // synchronous reset
    input logic [PORTS-1:0] request,  // per input, strobe: requests its request_port
    input logic [4*PORTS-1:0] request_port,  // per input: requested output
    input logic [PORTS-1:0] gap_leaves,  // per input, strobe: its GAP is sent
    input logic [PORTS-1:0] released,  // per output, strobe: the GAP of its owner leaves
    input logic [PORTS-1:0] occupied,  // per output: stopped, or packets wait for it
    output logic [PORTS-1:0] crossing,  // per input: its packet owns its output
    output logic [PORTS-1:0] queueing,  // per input: its packet enters the central queue
    output logic [PORTS-1:0] direct,  // per output: an input owns it
    output logic [$clog2(PORTS)*PORTS-1:0] owner,  // per output: that input
    output logic [PORTS-1:0] tr_grant,  // per input, strobe: `crossing` since the last edge
    output logic [PORTS-1:0] tr_queue,  // per input, strobe: `queueing` since the last edge
    output logic busy  // 1 = a further clock edge is needed
);
  localparam int PW = $clog2(PORTS);
  logic [      PORTS-1:0] free;  // per output: can be granted from the coming edge on
  logic [PORTS*PORTS-1:0] grant;  // per output: input that would own it
  logic [      PORTS-1:0] won;  // per input
  logic [      PORTS-1:0] taken;  // per output

  assign free = (~direct | released) & ~occupied;
  assign busy = (request | tr_grant | tr_queue) != '0;

  for (genvar o = 0; o < PORTS; o++) begin : gen_output
    logic [PORTS-1:0] asks;
    logic [PW-1:0] winner;
    always_comb begin : asking
      logic [PORTS-1:0] here;
      here = '0;
      if (request != '0 && free[o]) begin
        for (int i = 0; i < PORTS; i++) here[i] = request[i] && request_port[4*i+:4] == 4'(o);
      end
      asks = here;
    end
    assign taken[o] = asks != '0;
    myri_rr_arbiter #(
        .N(PORTS)
    ) u_arbiter (
        .clk(clk),
        .rst(rst),
        .request(asks),
        .take(taken[o]),
        .grant(grant[PORTS*o+:PORTS])
    );
    myri_index #(
        .N(PORTS)
    ) u_winner (
        .one_hot(grant[PORTS*o+:PORTS]),
        .index  (winner)
    );
    always_ff @(posedge clk) begin
      if (rst) owner[PW*o+:PW] <= '0;
      else if (taken[o]) owner[PW*o+:PW] <= winner;
    end
  end

  for (genvar i = 0; i < PORTS; i++) begin : gen_input
    logic [PORTS-1:0] from;  // outputs that it would own: at most one
    for (genvar o = 0; o < PORTS; o++) begin : gen_from
      assign from[o] = grant[PORTS*o+i];
    end
    assign won[i] = from != '0;
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      crossing <= '0;
      queueing <= '0;
      direct   <= '0;
      tr_grant <= '0;
      tr_queue <= '0;
    end else begin
      crossing <= (crossing & ~gap_leaves) | won;
      queueing <= (queueing & ~gap_leaves) | (request & ~won);
      direct   <= (direct & ~released) | taken;
      tr_grant <= won;
      tr_queue <= request & ~won;
    end
  end
endmodule
