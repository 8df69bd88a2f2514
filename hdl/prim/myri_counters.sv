// N wrapping 32-bit counters, one per strobe.
//
// Timing: the count includes a strobe directly after the edge. State changes only with a strobe.
module myri_counters #(
    parameter int N = 8  // strobes
) (
    input  logic            clk,     // clock of the strobes
    input  logic            rst,     // synchronous reset
    input  logic [   N-1:0] strobe,  // counted at the coming edge
    output logic [32*N-1:0] count    // counter k at [32k+31:32k]
);
  logic any;  // a simulator evaluates the counters one by one only when any strobe is set

  assign any = myri_sleep_pkg::EVALUATE_ALWAYS || strobe != '0;

  for (genvar i = 0; i < N; i++) begin : gen_count
    logic [31:0] value_q;
    assign count[32*i+:32] = value_q;
    always_ff @(posedge clk) begin
      if (rst) value_q <= 32'd0;
      else if (any && strobe[i]) value_q <= value_q + 32'd1;
    end
  end
endmodule
