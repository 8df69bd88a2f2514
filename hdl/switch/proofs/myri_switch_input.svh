// While `busy` is 0, no register changes. No other property of the block is proved.
// prove: induction 2
// mutants: enables
initial assume (rst);
always @(posedge clk)
  if (!$initstate && !$past(rst) && !rst && !$past(busy)) begin
    assert ($stable(gen_port[0].diff_q) && $stable(gen_port[1].diff_q) && $stable(gen_port[2].diff_q) && $stable(gen_port[3].diff_q));
    assert ($stable(gen_port[4].diff_q) && $stable(gen_port[5].diff_q) && $stable(gen_port[6].diff_q) && $stable(gen_port[7].diff_q));
    assert ($stable(x_tail) && $stable(tr_head) && $stable(out) && $stable(key));
    assert ($stable(in_body_q) && $stable(dropping_q) && $stable(held_q) && $stable(falling_q));
    assert ($stable(gen_port[0].held_byte_q) && $stable(gen_port[1].held_byte_q) && $stable(gen_port[2].held_byte_q) && $stable(gen_port[3].held_byte_q));
    assert ($stable(gen_port[4].held_byte_q) && $stable(gen_port[5].held_byte_q) && $stable(gen_port[6].held_byte_q) && $stable(gen_port[7].held_byte_q));
    assert ($stable(fall_left_q));
    assert ($stable(gen_port[0].key_bytes_q) && $stable(gen_port[1].key_bytes_q) && $stable(gen_port[2].key_bytes_q) && $stable(gen_port[3].key_bytes_q));
    assert ($stable(gen_port[4].key_bytes_q) && $stable(gen_port[5].key_bytes_q) && $stable(gen_port[6].key_bytes_q) && $stable(gen_port[7].key_bytes_q));
  end
always @(posedge clk) cover (!$initstate && !rst && !busy);
