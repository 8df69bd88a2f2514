// While `busy` is 0, no register changes but the trace data of the current packet, which every clock without a packet
// loads, including the clock that begins one. No other property of the block is proved. Arbitrary words `w` and `o` of
// both kinds are followed.
// prove: induction 2 FIFO_LOG2=2 BUFFER_LOG2=2
// mutants: enables
(* anyconst *) logic [2:0] w;
(* anyconst *) logic [3:0] o;
logic [63:0] kept;
assign kept = {words[w], owns[o]};
initial assume (rst);
always @(posedge clk)
  if (!$initstate && !$past(rst) && !rst) begin
    assert (busy || !f_busy);
    if (!$past(busy)) begin
      assert ($stable(kept) && $stable(state_q) && $stable(waiting_q) && $stable(bytes_q));
      assert ($stable(left_q) && $stable(own_q) && $stable(own_now_q) && $stable(place_q));
      if (state_q != IDLE) assert ($stable(key_now_q) && $stable(bytes_now_q));
    end
    if ($past(state_q == IDLE)) assert ({key_now_q, bytes_now_q} == $past({words[4], bytes_q + {5'd0, own_q}}));
    cover (!busy && waiting_q);
  end
