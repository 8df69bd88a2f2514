// Four write beats towards the bus and four read beats from it, each once and in order. The beat on the bus is the
// oldest one given; a read beat holds both dwords of its lane group; neither side holds more than four beats. One
// arbitrary beat of each side is followed. Assumed of the master: a phase that ends a lane group, or a dropped beat,
// has a beat available, or a free place for it.
// prove: induction 2
(* anyseq *) logic pick;  // the beat that arrives now is the followed one
logic w_on, r_on;  // a read beat is followed
logic [2:0] w_ahead, r_ahead;  // beats before it
logic [63:0] w_own, r_own;
logic [31:0] low;  // lower dword, of the phase before
logic moves;  // a beat leaves the write side or arrives at the read side
logic w_push_now, w_pop_now, r_push_now, r_pop_now;

assign moves = (xfer && group_end) || flush;
assign w_push_now = mw_valid && mw_ready;
assign w_pop_now = write && moves;
assign r_push_now = !write && moves;
assign r_pop_now = mr_valid && mr_ready;
initial assume (rst);
always_comb if (moves) assume (have != 3'd0);
always @(posedge clk) begin
  if (rst) {w_on, r_on} <= 2'b00;
  else begin
    if (!w_on && w_push_now && pick) {w_on, w_ahead, w_own} <= {1'b1, w_count_q - 3'(w_pop_now), mw_data};
    else if (w_on && w_pop_now) {w_on, w_ahead} <= {w_ahead != 3'd0, w_ahead - 3'd1};
    if (!r_on && r_push_now && pick) begin
      {r_on, r_ahead} <= {1'b1, r_count_q - 3'(r_pop_now)};
      r_own <= flush ? '1 : wide ? bus_ad : half ? {bus_ad[31:0], low} : {32'd0, bus_ad[31:0]};
    end else if (r_on && r_pop_now) {r_on, r_ahead} <= {r_ahead != 3'd0, r_ahead - 3'd1};
  end
  if (rst) low <= 32'd0;
  else if (xfer && !wide && !half) low <= bus_ad[31:0];
end

always @(posedge clk)
  if (!$initstate && !rst) begin
    assert (w_count_q <= 3'd4 && r_count_q <= 3'd4 && low_q == low);
    assert (2'(w_in_q - w_out_q) == w_count_q[1:0] && 2'(r_in_q - r_out_q) == r_count_q[1:0]);
    assert (have == (write ? w_count_q : 3'd4 - r_count_q) && mr_valid == (r_count_q != 3'd0));
    if (w_on) assert (w_ahead < w_count_q && wmem[2'(w_out_q + w_ahead[1:0])] == w_own);
    if (r_on) assert (r_ahead < r_count_q && rmem[2'(r_out_q + r_ahead[1:0])] == r_own);
    if (w_on && w_ahead == 3'd0) assert (head == w_own);
    if (r_on && r_ahead == 3'd0) assert (mr_valid && mr_data == r_own);
    if (w_count_q == 3'd0) assert (head == 64'd0);
    if (r_count_q == 3'd0) assert (mr_data == 64'd0);
    assert (mw_ready == (w_count_q != 3'd4) && needed == (w_push_now || r_pop_now));
    if ($past(rst)) assert (w_count_q == 3'd0 && r_count_q == 3'd0);
    else begin
      assert (w_count_q == $past(w_count_q + 3'(w_push_now) - 3'(w_pop_now)));
      assert (r_count_q == $past(r_count_q + 3'(r_push_now) - 3'(r_pop_now)));
    end
    cover (w_on && w_count_q == 3'd4);
  end
