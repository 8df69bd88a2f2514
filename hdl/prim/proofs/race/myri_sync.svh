// Race model of myri_sync for proofs: each bit that changes just before an edge of clk is sampled as it was or as it is.
module myri_sync #(
    parameter int WIDTH = 1  // bits
) (
    input  logic             clk,  // clock of the receiving side
    input  logic             rst,  // synchronous reset of that side
    input  logic [WIDTH-1:0] d,    // signal of another clock
    output logic [WIDTH-1:0] q     // first sample
);
  (* anyseq *) logic [WIDTH-1:0] missed;  // bits whose change is missed
  logic [WIDTH-1:0] before_q;  // d a step of the solver ago

  always @($global_clock) before_q <= rst ? '0 : d;

  always_ff @(posedge clk) begin
    if (rst) q <= '0;
    else q <= (missed & before_q) | (~missed & d);
  end
endmodule
