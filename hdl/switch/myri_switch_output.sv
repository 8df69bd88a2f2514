// Output sides of a switch: round robin among the requesting inputs, held for a packet.
//
// Timing: a request is granted at the next edge if the output is free, or at the edge at which the GAP of the previous
// packet leaves (arbitration overlaps the packet's last character). The granted input's stream is connected from that
// edge on, combinationally.
module myri_switch_output
  import myri_sleep_pkg::*;
#(
    parameter int PORTS = 8  // ports of the switch: 4, 8 or 16
) (
    input  logic               clk,            // character clock
    input  logic [  PORTS-1:0] gated_clk,      // clock of each port, see myri_switch
    input  logic               rst,            // synchronous reset
    input  logic [  PORTS-1:0] request,        // per input, strobe: requests its request_port
    input  logic [4*PORTS-1:0] request_port,   // per input: requested output
    output logic [  PORTS-1:0] waiting,        // per input: has requested and is not yet served
    output logic [  PORTS-1:0] active,         // per input: owns its output until its GAP is sent
    output logic [  PORTS-1:0] tr_grant,       // per input, strobe: `active` since the last edge
    input  logic [  PORTS-1:0] gap_leaves,     // per input, strobe: its GAP is sent
    input  logic [  PORTS-1:0] x_valid,        // streams of the inputs
    input  logic [  PORTS-1:0] x_tail,         // their GAP flags
    input  logic [8*PORTS-1:0] x_data,         // their bytes
    output logic [  PORTS-1:0] s_valid,        // streams to the links
    input  logic [  PORTS-1:0] s_ready,        // accepted at the coming edge
    output logic [  PORTS-1:0] s_tail,         // this beat is the GAP
    output logic [8*PORTS-1:0] s_data,         // byte
    output logic [  PORTS-1:0] output_needed,  // clock enables of these clocks
    output logic               busy            // 1 = a further clock edge is needed
);
  localparam int PW = $clog2(PORTS);

  logic [      PORTS-1:0] serving_q;  // per output: owned by an input
  logic [      PORTS-1:0] asked;  // per output: an input waits
  logic [      PORTS-1:0] released;  // per output: the GAP leaves
  logic [      PORTS-1:0] arbitrate;  // per output: an owner is chosen at the coming edge
  logic [PORTS*PORTS-1:0] grant;  // per output: the input that would be chosen
  logic [   PW*PORTS-1:0] owner_q;  // per output: the input that owns it

  assign released = s_valid & s_ready & s_tail;
  // Waiting inputs are pending at an output: without a pending input there is nothing to choose.
  always_comb begin : choices
    logic [PORTS-1:0] choosing;
    choosing = '0;
    if (EVALUATE_ALWAYS || waiting != '0) begin
      for (int o = 0; o < PORTS; o++)
      if (asked[o] && (!serving_q[o] || released[o])) choosing[o] = 1'b1;
    end
    arbitrate = choosing;
  end

  // Only outputs that serve an input are connected.
  always_comb begin : connections
    logic [PORTS-1:0] valid, gap;
    logic [8*PORTS-1:0] data;
    valid = '0;
    gap   = '0;
    data  = '0;
    for (int o = 0; o < PORTS; o++) begin
      if (serving_q[o]) begin
        valid[o] = x_valid[owner_q[PW*o+:PW]];
        gap[o] = x_tail[owner_q[PW*o+:PW]];
        data[8*o+:8] = x_data[8*owner_q[PW*o+:PW]+:8];
      end
    end
    s_valid = valid;
    s_tail  = gap;
    s_data  = data;
  end
  assign output_needed = arbitrate | {PORTS{request != '0}};
  assign busy = (arbitrate | tr_grant) != '0;

  always_ff @(posedge clk) begin
    if (rst) begin
      serving_q <= '0;
      owner_q <= '0;
      waiting <= '0;
      active <= '0;
      tr_grant <= '0;
    end else begin
      serving_q <= (serving_q & ~released) | arbitrate;
      waiting <= waiting | request;
      active <= active & ~gap_leaves;
      tr_grant <= '0;
      if (EVALUATE_ALWAYS || arbitrate != '0) begin
        for (int o = 0; o < PORTS; o++) begin
          for (int i = 0; i < PORTS; i++) begin
            if (arbitrate[o] && grant[PORTS*o+i]) begin
              owner_q[PW*o+:PW] <= PW'(i);
              waiting[i] <= 1'b0;
              active[i] <= 1'b1;
              tr_grant[i] <= 1'b1;
            end
          end
        end
      end
    end
  end

  for (genvar o = 0; o < PORTS; o++) begin : gen_port
    logic own_clk;
    assign own_clk = gated_clk[o];
    logic [PORTS-1:0] pending_q;  // inputs that have requested and are not served

    assign asked[o] = pending_q != '0;

    myri_rr_arbiter #(
        .N(PORTS)
    ) u_arbiter (
        .clk(own_clk),
        .rst(rst),
        .request(pending_q),
        .take(arbitrate[o]),
        .grant(grant[PORTS*o+:PORTS])
    );

    // Written as rarely taken branches: nothing is evaluated between packets.
    always_ff @(posedge own_clk) begin
      if (rst) begin
        pending_q <= '0;
      end else begin
        if (arbitrate[o]) begin
          for (int i = 0; i < PORTS; i++) begin
            if (grant[PORTS*o+i]) begin
              pending_q[i] <= 1'b0;
            end
          end
        end
        if (EVALUATE_ALWAYS || request != '0) begin
          for (int i = 0; i < PORTS; i++) begin
            if (request[i] && request_port[4*i+:4] == 4'(o)) pending_q[i] <= 1'b1;
          end
        end
      end
    end
  end
endmodule
