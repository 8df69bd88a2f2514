// Each register reads as the value written last, and as 0 from reset until then. One arbitrary register is followed.
// Assumed: the two writes of a clock are of different registers.
// prove: induction 2 WIDTH=2 NUMBER=2
(* anyconst *) logic [NUMBER-1:0] k;
logic [WIDTH-1:0] held;
logic [WIDTH-1:0] kept;
assign kept = !known_q[k] ? WIDTH'(0) : by_load_q[k] ? loaded[k] : computed[k];
initial assume (rst);
always_comb assume (!(loads && computes && load_rd == result_rd));
always @(posedge clk)
  if (rst) held <= WIDTH'(0);
  else if (loads && load_rd == k) held <= load_value;
  else if (computes && result_rd == k) held <= result_value;
always @(posedge clk)
  if (!$initstate && !rst) begin
    assert (kept == held);
    if (rs1 == k) assert (rs1_value == held);
    if (rs2 == k) assert (rs2_value == held);
    if (rd == k) assert (rd_value == held);
    cover (by_load_q[k] && known_q[k] && held != WIDTH'(0));
  end
