// With two arbitrary clocks, every change of the level arrives once and in order. When neither side is busy, both have
// the same level, so an idle side is woken. A side that is not busy does not change.
// prove: bounded 12 free
// unseen: `||` -> `&&` in `assign w_busy = cross_busy || (change && w_ready);`: visible only with a full crossing, which takes more steps than the bound
// unseen: `&&` -> `||` in `else if (change && w_ready) sent_q <= w_level;`: visible only with a full crossing, which takes more steps than the bound
(* anyconst *) logic [3:0] latency;
logic begun_w;  // a side has had its reset
logic begun_r;

initial begin
  assume (!begun_w && !begun_r);
end
always_comb begin
  assume (latency <= 4'd2 && cfg_latency == latency);
  assume (w_rst == !(begun_w && begun_r) && r_rst == w_rst);
  if (!begun_w || !begun_r) assume (!w_level);
end
always @(posedge w_clk) begin begun_w <= 1'b1; end
always @(posedge r_clk) begin begun_r <= 1'b1; end

always_comb
  if (begun_w && begun_r && !$initstate) begin
    if (r_valid) assert (r_data != r_level);
    assert (w_busy || r_busy || r_level == w_level);
    if (change && w_ready) assert (w_busy);
    if (r_valid) assert (r_busy);
    cover (r_level && !w_busy && !r_busy);
  end
