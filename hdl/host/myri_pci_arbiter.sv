// Central PCI arbiter: round robin, hidden arbitration, parked on agent 0 (the host bridge).
//
// During a transaction the grant moves to the next requester immediately. On an idle bus it is withdrawn for one clock
// before another agent gets it, so that the parked agent has released AD and C/BE#. An owner keeps the grant until it
// has used it and another agent requests, or until it no longer requests.
module myri_pci_arbiter #(
    parameter int AGENTS = 2  // agents on the bus, 2..9
) (
    input  logic              clk,      // PCI clock
    input  logic              rst,      // synchronous, active high
    input  logic              frame_n,  // FRAME# as resolved
    input  logic              irdy_n,   // IRDY# as resolved
    input  logic [AGENTS-1:0] req_n,    // requests
    output logic [AGENTS-1:0] gnt_n,    // grants, registered, at most one low
    output logic              busy      // 1 = needs clock edges
);
  localparam logic [AGENTS-1:0] PARK = 1;  // agent 0

  logic [AGENTS-1:0] owner_q;  // one-hot
  logic              granted_q;  // owner has GNT#
  logic              used_q;  // the owner has begun a transaction since its grant
  logic              busy_q;  // bus was busy at the last edge

  logic [AGENTS-1:0] others, above, after, chosen;
  logic bus_busy, begins, move;
  assign bus_busy = ~frame_n | ~irdy_n;
  // The agent that starts a transaction is the owner: on an idle bus the grant never moves one clock earlier.
  assign begins = ~frame_n & ~busy_q & granted_q;
  assign others = ~req_n & ~owner_q;
  assign above = others & ~(owner_q | (owner_q - PARK));  // round robin: agents above the owner first
  assign after = (above != '0) ? above : others;
  assign chosen = (after != '0) ? after & (~after + PARK) : PARK;

  always_comb begin
    if (after != '0)
      move = bus_busy ? (used_q | begins | (req_n & owner_q) != '0) : (req_n & owner_q) != '0;
    else move = ~bus_busy & (req_n & owner_q) != '0 & owner_q != PARK;
  end

  assign gnt_n = ~(owner_q &{AGENTS{granted_q}});
  assign busy  = bus_busy | busy_q | ~granted_q | (req_n != '1) | owner_q != PARK | used_q;

  always_ff @(posedge clk) begin
    if (rst) begin
      owner_q <= PARK;
      granted_q <= 1'b1;
      used_q <= 1'b0;
      busy_q <= 1'b0;
    end else begin
      busy_q <= bus_busy;
      if (!granted_q) begin
        granted_q <= 1'b1;  // one clock without grant is over
        used_q    <= 1'b0;
      end else if (move) begin
        owner_q <= chosen;
        granted_q <= bus_busy;
        used_q <= 1'b0;
      end else if (begins) used_q <= 1'b1;
      else if (owner_q == PARK && !bus_busy) used_q <= 1'b0;
    end
  end
endmodule
