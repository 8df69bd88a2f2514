// Entries leave in the order of arrival, none is lost or added, and `level` counts them. While `busy` is 0, no register
// changes. One arbitrary place of the memory is followed: what was written there is what leaves from there.
// prove: induction 2 WIDTH=2 DEPTH_LOG2=2
// prove: induction 2 WIDTH=3 DEPTH_LOG2=1
(* anyconst *) logic [DEPTH_LOG2-1:0] place;
logic [WIDTH-1:0] kept;
logic [WIDTH-1:0] entry;
logic there;
logic [DEPTH_LOG2-1:0] fill;  // of the level, without its highest bit
logic [DEPTH_LOG2-1:0] ahead;  // entries before the one at that place

assign fill  = w_ptr_q - r_ptr_q;
assign ahead = place - r_ptr_q;
assign entry = gen_shallow.mem[place];

initial assume (rst);
always @(posedge clk) begin
  if (rst || (pop && r_ptr_q == place)) there <= 1'b0;
  if (!rst && push && w_ptr_q == place) begin
    there <= 1'b1;
    kept  <= w_data;
  end
end

always @(posedge clk)
  if (!$initstate && !rst) begin
    assert (level <= (1 << DEPTH_LOG2));
    assert (level[DEPTH_LOG2-1:0] == fill);
    assert (there == ({1'b0, ahead} < level));
    if (there) assert (entry == kept);
    if (there && ahead == 0) assert (r_valid && r_data == kept);
    assert (w_ready == (level != (1 << DEPTH_LOG2)) && r_valid == (level != 0));
    assert (busy || !(w_valid && w_ready || r_valid && r_ready));
    if (!$past(rst) && !$past(busy))
      assert ($stable(level) && $stable(w_ptr_q) && $stable(r_ptr_q) && $stable(entry));
    cover (level == (1 << DEPTH_LOG2) && push == 0 && pop);
  end
