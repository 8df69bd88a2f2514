// With two arbitrary clocks, which may also stop, entries leave in the order of arrival, and none is lost or added. A
// side that is not busy does not change with further edges of its clock.
// prove: bounded 12 free WIDTH=1 DEPTH_LOG2=1
// prove: bounded 12 free WIDTH=1 DEPTH_LOG2=1 RELATED=1
// prove: bounded 12 free race WIDTH=1 DEPTH_LOG2=1
// unseen: `&&` -> `||` in `assign latency = !RELATED && cfg_latency == 4'd0 ? 4'd1 : cfg_latency;`: a latency of 1 for all is safe; benches compare latencies with the promised ones
// unseen: `&&` -> `||` in `assign at_once = RELATED && cfg_latency == 4'd0;`: loads the head more often than needed, with RELATED = 0
// unseen: `==` -> `!=` in `assign at_once = RELATED && cfg_latency == 4'd0;`: matters with RELATED = 1 only, which the bench cdc_fifo has
// unseen: `4'd0` -> `4'd1` in `assign at_once = RELATED && cfg_latency == 4'd0;`: matters with RELATED = 1 only, which the bench cdc_fifo has
// unseen: `4'd1` -> `4'd2` in `assign latency = !RELATED && cfg_latency == 4'd0 ? 4'd1 : cfg_latency;`: the bench cdc_race compares the latency with the promised one
// unseen: `1'b0` -> `1'b1` in `else w_busy = 1'b0;`: early idling of the write side is tested by block tests that compare gated with free-running clocks
// unseen: `^` -> `&` in `assign w_fold_1 = w_seen ^ (w_seen >> 1);`: early idling of the write side is tested by block tests that compare gated with free-running clocks
// unseen: `^` -> `&` in `assign w_fold_2 = w_fold_1 ^ (w_fold_1 >> 2);`: early idling of the write side is tested by block tests that compare gated with free-running clocks
// unseen: `-` -> `+` in `assign w_fill   = w_bin_q - (w_fold_2 ^ (w_fold_2 >> 4));`: early idling of the write side is tested by block tests that compare gated with free-running clocks
// unseen: `^` -> `&` in `assign w_fill   = w_bin_q - (w_fold_2 ^ (w_fold_2 >> 4));`: early idling of the write side is tested by block tests that compare gated with free-running clocks
// unseen: `+` -> `-` in `assign crowded  = 8'(w_fill) + {4'd0, latency} >= 8'(1 << DEPTH_LOG2);`: early idling of the write side is tested by block tests that compare gated with free-running clocks
// unseen: `4'd0` -> `4'd1` in `assign crowded  = 8'(w_fill) + {4'd0, latency} >= 8'(1 << DEPTH_LOG2);`: early idling of the write side is tested by block tests that compare gated with free-running clocks
// unseen: `>=` -> `<` in `assign crowded  = 8'(w_fill) + {4'd0, latency} >= 8'(1 << DEPTH_LOG2);`: early idling of the write side is tested by block tests that compare gated with free-running clocks
(* anyconst *) logic [2:0] place;  // the entry that is followed, by its number from reset on
(* anyconst *) logic [3:0] given;
logic [2:0] came;
logic [2:0] left;
logic kept;
logic begun_w;  // a side has had its reset
logic begun_r;
logic [PW-1:0] room;

initial begin
  assume (!begun_w && !begun_r);
end
always_comb begin
  assume (given <= 4'd2 && cfg_latency == given);
  assume (w_rst == !(begun_w && begun_r) && r_rst == w_rst);
  if (!begun_w || !begun_r) assume (!w_valid && !r_ready);
end
always @(posedge w_clk) begun_w <= 1'b1;
always @(posedge r_clk) begun_r <= 1'b1;

always @(posedge w_clk)
  if (w_rst) came <= '0;
  else if (push) begin
    came <= came + 3'd1;
    if (came == place) kept <= w_data[0];
  end
always @(posedge r_clk)
  if (r_rst) left <= '0;
  else if (pop) left <= left + 3'd1;

assign room = came[PW-1:0] - left[PW-1:0];
always_comb
  if (begun_w && begun_r && !$initstate) begin
    assert (room <= (1 << DEPTH_LOG2));
    if (r_valid) assert (came != left);
    if (r_valid && left == place) assert (r_data[0] == kept);
    assert (w_bin_q == came[PW-1:0] && r_bin_q == left[PW-1:0]);
    if (!w_moving && w_gray_q == r_gray_q) assert (w_ready);
    if (push) assert (w_busy);
    if (pop) assert (r_busy);
    if (!r_moving) assert (r_valid == (came != left));
  end
