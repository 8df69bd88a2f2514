// No register changes while no client requests and no read data are due: the clients keep the clock running until they
// have their answers. A client is served only while it requests, and data arrive exactly two clocks after a read was
// accepted. Assumed: a request is stable until it is served.
// The block has no enable of its own, so it has no mutants either.
// prove: induction 3
// mutants: enables
logic [3:0] asks, served, stays;
logic [119:0] wants, same;
logic [1:0] soon, now;  // target, uplink: its data arrive in the next clock; in this clock
assign asks = {ur_valid, tread_valid, dw_valid, tw_valid};
assign served = {ur_ready, tread_ready, dw_ready, tw_ready};
assign wants = {ur_addr, tread.addr[22:0], dw_addr, tw.addr[22:0], dw_be, tw.be};
always @(posedge clk) begin
  stays <= rst ? 4'd0 : asks & ~served;
  same <= wants;
  {now, soon} <= rst ? 4'd0 : {soon, served[3:2]};
end
initial assume (rst);
always_comb begin
  assume ((stays & ~asks) == 4'd0);
  if (stays[0]) assume ({tw.addr[22:0], tw.be} == {same[38:16], same[7:0]});
  if (stays[1]) assume ({dw_addr, dw_be} == {same[61:39], same[15:8]});
  if (stays[2]) assume (tread.addr[22:0] == same[84:62]);
  if (stays[3]) assume (ur_addr == same[107:85]);
end
always @(posedge clk)
  if (!$initstate && !rst) begin
    assert ((served & ~asks) == 4'd0 && $onehot0(served));
    if (upper_q) assert (stays[0] && last_client_q == TARGET_WRITE || stays[1] && last_client_q == DMA_WRITE
        || stays[2] && last_client_q == TARGET_READ || stays[3] && last_client_q == UPLINK_READ);
    assert ((access == 4'd0) == (asks == 4'd0));
    assert ({uplink_due_q, target_due_q} == soon && {ud_valid, td_valid} == now);
    if (!$past(rst) && $past(asks == 4'd0 && soon == 2'd0 && now == 2'd0))
      assert ($stable(upper_q) && $stable(last_client_q) && $stable(low_due_q) && $stable(target_due_q)
          && $stable(uplink_due_q) && $stable(low_q) && $stable(td_valid) && $stable(ud_valid) && $stable(rdata));
    cover (now == 2'd1);
  end
