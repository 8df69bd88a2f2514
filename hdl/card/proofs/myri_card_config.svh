// Slots are emptied before the frames of an image are taken, and loaded only after a header and frames whose CRC-32 are
// right, with the slots and number of that header. No other change of slots is asked for than that, and CLEAR. A change
// is asked for once, and kept until it is accepted. A word of an image takes at least four clocks, and with cfg_wait at
// least four more. While `busy` is 0, no register changes. Assumed: a change is made only if it was asked for, and the
// waiting clocks of a byte, the identity and the number of images do not change.
// The content of header and frames, and CRC-32 itself, are left to the benches.
// prove: induction 4
// mutants: enables
logic right, emptied, frames_right;  // the header is right; its slots are empty; so are its frames
logic [7:0] slot_of, image_of;  // of the header
logic [3:0] clocks;  // since a word or command was taken, up to 8
logic header_end;
assign header_end = word_over && state_q == HEADER && index_q == myri_card_pkg::CARD_IMAGE_HEADER_WORDS - 3'd1;
initial assume (rst);
always_comb if (!asked_q) assume (!told);
always @(posedge clk) begin
  if (!$initstate) assume ($stable(cfg_wait) && $stable(identity) && $stable(files));
  if (rst || starts || ends || clears) {right, emptied, frames_right} <= '0;
  else begin
    if (header_end) begin
      right <= word == ~crc_q && mine_q && image_q != '0 && image_q <= files;
      {slot_of, image_of} <= {slot_q, image_q};
    end
    if (told && state_q == EMPTY) emptied <= 1'b1;
    if (word_over && state_q == CHECK) frames_right <= word == ~crc_q;
  end
  if (rst || pop) clocks <= '0;
  else if (takes && clocks != 4'd8) clocks <= clocks + 4'd1;
end
always @(posedge clk)
  if (!$initstate && !rst) begin
    if (!$past(rst) && !$past(busy)) begin
      assert ($stable(upper_q) && $stable(byte_q) && $stable(wait_q) && $stable(crc_q) && $stable(index_q));
      assert ($stable({version_q, part_q, slot_q, image_q}) && $stable(mine_q) && $stable(length_q));
      assert ($stable(state_q) && $stable(outcome) && $stable(clears_q) && $stable(left_q) && $stable(bytes));
      assert ($stable(asked_q) && $stable(configured_q));
    end
    if (state_q == EMPTY && !clears_q || state_q == FRAMES || state_q == CHECK || state_q == FILL)
      assert (right && slot_q == slot_of && image_q == image_of && !clears_q && outcome == myri_card_pkg::LOAD_RUNNING);
    if (state_q == FRAMES || state_q == CHECK || state_q == FILL) assert (emptied);
    if (state_q == HEADER) assert (!clears_q && outcome == myri_card_pkg::LOAD_RUNNING);
    if (right) assert (image_of != '0 && image_of <= files);
    if (state_q == FILL) assert (frames_right);
    if (tell_valid) begin
      assert (state_q == EMPTY || state_q == FILL);
      assert (tell.image == (state_q == FILL ? image_of : 8'd0));
      if (!clears_q && slot_of != myri_card_pkg::CARD_WHOLE_DEVICE) assert (!tell.device && tell.slots == 4'd1 << slot_of[1:0]);
      else assert (tell.device && tell.slots == 4'd15);
    end
    if (asked_q) assert (state_q == EMPTY || state_q == FILL);
    if (!$past(rst) && $past(tell_valid && !tell_ready)) assert (tell_valid && $stable(tell));
    if (!$past(rst) && $past(tell_valid && tell_ready)) assert (!tell_valid);
    assert (clocks <= 4'd8 && clocks >= {2'd0, byte_q});
    if (cfg_wait != '0) assert (clocks >= {1'b0, byte_q, wait_q != '0});
    if (word_over) assert (clocks >= 4'd3 && (cfg_wait == '0 || clocks >= 4'd7));
    cover (tell_valid && tell_ready && !rst);
  end
