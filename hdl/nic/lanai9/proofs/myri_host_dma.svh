// A transfer stays inside its block: each byte written to SRAM and each command on the bus lie within `len` bytes from
// LAR or EAL. The SRAM reads are the block's own three words, or the words that hold its bytes. The mark is written to
// the block's first word when all bytes have passed without an error, at once if it has none. For an arbitrary chain
// `k`: the running chain with the highest priority is served first, and a finished block leads to `next`. While `busy`
// is 0, no register changes. Assumed: the properties proved of myri_byte_aligner and myri_sram_reader, and that the bus
// master ends each command once.
// prove: induction 2
(* anyconst *) logic [1:0] k;
(* anyconst *) logic [2:0] lane;
logic [23:0] own;  // chain k: its current block
logic moving;  // the block has begun to move
logic [33:0] moved;  // bytes output by the aligner
logic [33:0] all;  // bytes of the block
logic [31:0] words_out;  // words that contain these bytes
logic [31:0] words_in;
logic [31:0] needed;  // words that hold the bytes of the block in SRAM
logic [2:0] at;  // first lane of the next output word
logic [30:0] run;  // reader: words requested, read, output
logic [30:0] asked;
logic [30:0] given;
logic in_move;
logic [3:0] ran;  // in the clock before: chains that ran
logic [19:0] listed;  // and the block of the highest
logic pulsed;  // PULSE of the active chain, since its block was begun
logic kept;  // no error now or since then
logic failed;  // a command of the block has failed
logic [31:0] bytes;  // chain k: progress
logic [33:0] place;  // in SRAM: byte `lane` of the word that is written

assign own = list[k];
assign bytes = progress[k];
assign kept = !pulsed && !pulse[chain];
assign all = {2'd0, len_q};
assign needed = 32'((34'(lar_q[2:0]) + all + 34'd7) >> 3);
assign at = (words_out == 32'd0) ? (e2l ? lar_q[2:0] : eal_q[2:0]) : 3'd0;
assign in_move = state_q == ISSUE || state_q == MOVE;
assign place = {11'd0, w_sram.addr} + 34'(lane);

initial assume (rst);
always_comb begin
  assume (a_active == (moving && moved < all));
  if (moving && !e2l) assume (words_in <= needed && (a_active || words_in == needed));
  if (moving && !a_active) assume (moved == all);
  if (a_out_valid) begin
    assume (a_active);
    assume (34'(a_out_bytes) == ((all - moved < 34'd8 - 34'(at)) ? all - moved : 34'd8 - 34'(at)));
    assume (a_out_be[lane] == (lane >= at && 34'(lane) < 34'(at) + 34'(a_out_bytes)));
  end
  if (a_want) assume (a_active && (e2l || words_in < needed));
  assume (given <= asked && asked <= run);
  assume (r_valid == (given < asked));
  if (r_sram.req) assume (asked < run);
  if (rd_valid) assume (state_q == MOVE && !ended_q);
end
always @(posedge clk) begin
  {ran, listed} <= {running_q, next_block};
  pulsed <= !rst && (go ? pulse[pick] : pulsed || pulse[chain]);
  failed <= !rst && !go && (failed || (rd_valid && rd.done && rd.error));
end
always @(posedge clk)
  if (rst) {moving, moved, words_out, words_in, run, asked, given} <= '0;
  else begin
    if (begin_move) {moving, moved, words_out, words_in} <= {1'b1, 98'd0};
    else if (go) moving <= 1'b0;
    else begin
      if (a_out_valid && a_out_ready) begin
        moved <= moved + 34'(a_out_bytes);
        words_out <= words_out + 32'd1;
      end
      if (a_in_valid && a_want && (a_skip || a_out_ready)) words_in <= words_in + 32'd1;
    end
    if (r_start) {run, asked, given} <= {1'b0, r_count, 62'd0};
    else begin
      asked <= asked + 31'(r_sram.req && sram_gnt);
      given <= given + 31'(r_valid && r_ready);
    end
  end

always @(posedge clk)
  if (!$initstate && !rst) begin
    assert (state_q <= MARK && list[k][2:0] == 3'd0);
    assert (in_flight == (state_q != IDLE));
    if (state_q == FETCH) assert (!moving && run == 31'd3 && given == 31'(index_q) && index_q != 2'd3 && !ended_q && !failed_q);
    if (state_q == START || (state_q == MARK && len_q == 32'd0)) assert (!moving && given == 31'd3 && run == 31'd3 && !ended_q && !failed_q);
    if (state_q == IDLE) assert (given == run);
    if (r_start) assert (given == run);
    if (go) assert (r_addr == next_block && r_count == 30'd3);
    if (begin_move) begin
      assert (len_q != 32'd0 && !terminal && !refuse);
      if (!e2l) assert (r_addr == lar_q[22:3] && 32'(r_count) == needed);
    end
    if (in_move || (state_q == MARK && len_q != 32'd0)) begin
      assert (moving && !terminal && eah_q == 32'd0 && {2'd0, lar_q} + all <= 34'h800000 && len_q != 32'd0);
      assert (moved <= all && left_q <= len_q && address_q - eal_q == len_q - left_q);
      assert (words_out <= 32'h100001 && 34'({words_out, 3'd0}) <= moved + 34'd14);
      if (a_active && words_out != 32'd0) assert (moved == 34'({words_out, 3'd0}) - 34'(e2l ? lar_q[2:0] : eal_q[2:0]));
      if (words_out == 32'd0) assert (moved == 34'd0);
      if (e2l && a_active) assert (34'(a_sram_addr_q) == 34'({lar_q[22:3], 3'd0}) + 34'({words_out, 3'd0}));
      if (!e2l) assert (31'(needed) == run && 31'(words_in) == given);
      else assert (given == 31'd3 && run == 31'd3);
    end
    if (state_q == ISSUE) assert (left_q != 32'd0 && !ended_q);
    if (ended_q) assert (left_q == 32'd0);
    if (in_flight) assert (pulsed_q == pulsed && failed_q == failed);
    if ($past(rst)) assert (!in_flight && running_q == 4'd0 && list == 96'd0 && progress == 128'd0);
    if (starts) assert (state_q == START && !terminal && !refuse);
    if (!moving) assert (state_q != MOVE && state_q != ISSUE && !a_active);
    assert (cmd_valid == (state_q == ISSUE));
    if (cmd_valid) begin
      assert (cmd.write == !e2l && cmd.addr == address_q && cmd.bytes != 16'd0);
      assert (address_q - eal_q + 32'(cmd.bytes) <= len_q && cmd.bytes <= 16'd32768);
      assert (32'(cmd.bytes) == left_q || 16'(cmd.addr[2:0]) + cmd.bytes == 16'd32768);
    end
    assert (!(r_sram.req && w_sram.req));
    if (w_sram.req && state_q != MARK) begin
      assert (state_q == MOVE || state_q == ISSUE);
      assert (e2l && sram.write && sram.wdata == a_out_data);
      if (sram.be[lane]) assert (place >= 34'(lar_q) && place < 34'(lar_q) + all);
    end
    if (state_q == MARK) begin
      assert (!terminal && !refuse && !failed_q && (len_q == 32'd0 || (moved == all && left_q == 32'd0)));
      assert (sram.req && sram.write && sram.addr == {block_q, 3'd0} && sram.be == 8'hFF);
      assert (sram.wdata[31:0] == ({next_q[7:0], next_q[15:8], next_q[23:16], next_q[31:24]} | {5'd0, myri_lanai9_pkg::FLAG_TERMINAL, 24'd0}));
    end
    assert (status[3:0] == running_q && status[5:4] == chain && status[8] == in_flight && (status & ~32'h13F) == 32'd0);
    if (wr_valid) assert (!e2l && wr_data == a_out_data);
    assert (!(error && marked) && trace.dma_done == marked && !(set_wake[0] && set_wake[1]));
    if (set_wake != 2'd0) assert (marked && set_wake[chain[1]] && (next_q[2:0] & myri_lanai9_pkg::FLAG_WAKE) != 3'd0);
    if (marked && set_wake == 2'd0) assert ((next_q[2:0] & myri_lanai9_pkg::FLAG_WAKE) == 3'd0);
    if (!$past(rst)) begin
      if ($past(go)) assert (block_q == listed && chain == $past(pick) && ran[chain] && (ran & ((4'd1 << chain) - 4'd1)) == 4'd0);
      if ($past(in_flight) && !in_flight) assert ($past(marked || error || (state_q == START && terminal)));
      if ($past(state_q == START) && in_flight && state_q != START) assert ($past(starts));
      if ($past(starts)) assert (state_q == ($past(len_q) == 32'd0 ? MARK : ISSUE));
      if ($past(w_list[k])) assert (own == {$past(w_data[23:3]), 3'd0});
      else if ($past(marked) && $past(chain) == k) assert (own == {$past(next_q[23:3]), 3'd0});
      else assert ($stable(own));
      if ($past(running_q[k]) && !running_q[k]) assert ($past(hold_reset) || $past(chain) == k && $past(error || (state_q == START && terminal && kept)));
      if ($past((state_q == START && terminal && kept || error) && chain == k && !pulse[k])) assert (!running_q[k]);
      if ($past(pulse[k] && !running_q[k] || starts && chain == k)) assert (bytes == 32'd0);
      else assert (bytes == $past(bytes) + ($past(chain == k && a_out_valid && a_out_ready) ? 32'($past(a_out_bytes)) : 32'd0));
      if (!$past(running_q[k]) && running_q[k]) assert ($past(pulse[k]));
      if ($past(pulse[k] && !hold_reset)) assert (running_q[k]);
      if (!$past(busy)) begin
        assert ($stable(state_q) && $stable(running_q) && $stable(index_q) && $stable(next_q) && $stable(len_q));
        assert ($stable(lar_q) && $stable(eah_q) && $stable(eal_q) && $stable(block_q) && $stable(ended_q));
        assert ($stable(failed_q) && $stable(pulsed_q) && $stable(list) && $stable(progress) && $stable(chain));
        if (state_q != START) assert ($stable(left_q) && $stable(address_q) && $stable(a_sram_addr_q));
      end
    end
    cover (marked && e2l && words_out == 32'd2);
    cover (marked && !e2l && len_q == 32'd3);
  end
