// Round-robin arbiter: request vector in, one-hot grant out.
//
// The requester after the last granted one has priority. State changes only when a grant is taken, so an unused grant
// may still change when a request of higher priority arrives.
// Timing: `grant` is combinational from `request` and the state.
module myri_rr_arbiter #(
    parameter int N = 8  // number of requesters
) (
    input  logic         clk,      // clock
    input  logic         rst,      // synchronous reset; requester 0 then has priority
    input  logic [N-1:0] request,  // requests
    input  logic         take,     // the grant shown now is used at the coming edge
    output logic [N-1:0] grant     // one-hot; zero without a request
);
  logic [N-1:0] after_last_q;  // mask of the requesters above the one granted last
  logic [N-1:0] preferred;
  logic [N-1:0] candidates;

  assign preferred = request & after_last_q;
  always_comb begin
    candidates = '0;
    grant = '0;
    if (request != '0) begin
      candidates = (preferred != '0) ? preferred : request;
      grant = candidates & (~candidates + 1'b1);
    end
  end

  always_ff @(posedge clk) begin
    if (rst) after_last_q <= '1;
    else if (take && grant != '0) after_last_q <= ~(grant | (grant - 1'b1));
  end
endmodule
