// While `busy` is 0, no register changes but the trace data of the current packet, which every clock without a packet
// loads, including the clock that begins one. No other property of the block is proved. The two words of an
// arbitrary place, `w`, are followed.
// prove: induction 2 FIFO_LOG2=2 BUFFER_LOG2=2
// mutants: enables
(* anyconst *) logic [3:0] w;
logic [95:0] kept;
assign kept = {evens[w], odds[w], even_known_q, odd_known_q};
initial assume (rst);
always @(posedge clk)
  if (!$initstate && !$past(rst) && !rst) begin
    assert (busy || !f_busy);
    if (!$past(busy)) begin
      assert ($stable(kept) && $stable(state_q) && $stable(waiting_q) && $stable(bytes_q));
      assert ($stable(left_q) && $stable(own_q) && $stable(own_now_q) && $stable(place_q));
      if (state_q != IDLE) assert ($stable(key_now_q) && $stable(bytes_now_q));
    end
    if ($past(state_q == IDLE)) assert ({key_now_q, bytes_now_q} == $past({own_key, bytes_q + {5'd0, own_q}}));
    cover (!busy && waiting_q);
  end
