// A transfer stays inside its block: its SRAM writes, its SRAM reads, and each command on the bus lie within the given
// number of bytes from LAR or EAR. It is done when all bytes have passed. While `busy` is 0, no register changes.
// Assumed: the bus master returns no more words than requested, and one end for each command. The reader returns words
// of its run only (proved of myri_sram_reader, which also reads no other words). Registers are written one at a time.
// prove: induction 2
logic [31:0] gone;  // bytes that have passed
logic [31:0] owed;  // bytes commanded that have not, from the host

assign gone = bytes_q - ctr;
assign owed = ctr - left_q;

initial assume (rst);
always_comb begin
  assume ($countones({w_ear, w_lar, w_dir, w_ctr}) <= 1);
  if (rd_valid) assume (state_q == MOVE && !ended_q);
  if (rd_valid && !rd.done) assume (dir && owed != 32'd0);
  if (rd_valid && rd.done && dir) assume (owed == 32'd0);
  if (r_valid) assume (!dir && (state_q == ISSUE || state_q == MOVE) && words_q != 30'd0);
  if (r_sram.req) assume (!dir && (state_q == ISSUE || state_q == MOVE));
end

always @(posedge clk)
  if (!$initstate && !rst) begin
    assert (ear[1:0] == 2'd0 && lar[1:0] == 2'd0 && address_q[1:0] == 2'd0 && left_q[1:0] == 2'd0 && bytes_q[1:0] == 2'd0);
    if (state_q == START) assert (ctr == bytes_q && left_q == bytes_q && address_q == ear && !ended_q && !failed_q);
    if (state_q != IDLE) begin
      assert (ctr <= bytes_q && left_q <= bytes_q);
      assert (address_q - ear == bytes_q - left_q);
      assert (at_q == 21'(lar[22:2] + gone[22:2]));
      assert (upper_q == ear[2] ^ gone[2]);
    end
    if (state_q == ISSUE || state_q == MOVE) begin
      assert ({1'b0, lar} + {1'b0, bytes_q} <= 33'(myri_lanai4_pkg::SIZE_SRAM));
      if (dir) assert (left_q <= ctr);
      if (state_q == ISSUE) assert (left_q != 32'd0 && !ended_q);
      if (ended_q) assert (left_q == 32'd0);
    end
    if (sram.req && dir) begin
      assert (sram.write && sram.be == 8'h0F);
      assert (32'(sram.addr) - lar == gone && gone < bytes_q);
      assert (sram.wdata[31:0] == (upper_q ? rd.data[63:32] : rd.data[31:0]));
    end
    if (sram.req && !dir) assert (!sram.write);
    if (begin_move) assert ({1'b0, lar} + {1'b0, ctr} <= 33'(myri_lanai4_pkg::SIZE_SRAM) && ctr == bytes_q && cycle >= start_at_q);
    assert (cmd_valid == (state_q == ISSUE));
    if (cmd_valid) begin
      assert (cmd.write == !dir && cmd.addr == address_q);
      assert (cmd.bytes != 16'd0 && cmd.bytes <= 16'd32768);
      assert (address_q - ear + 32'(cmd.bytes) <= bytes_q);
    end
    if (set_done && state_q == MOVE) assert (ctr == 32'd0 && left_q == 32'd0);
    if (wr_valid) assert (wr_data == (upper_q ? {r_data, low_q} : {32'd0, r_data}));
    assert (!(set_done && error));
    if ($past(rst)) assert ({ear, lar, dir, start_at_q, low_q, bytes_q, ctr} == '0);
    if (state_q == ISSUE || state_q == MOVE) assert (bytes_q != 32'd0);
    assert (wr_valid == (r_valid && (upper_q || ctr == 32'd4)));
    if (state_q == START) assert (begin_move == (ctr != 32'd0 && alarm.valid && cycle >= start_at_q));
    assert (alarm.valid == (state_q == START && bytes_q != 32'd0 && {1'b0, lar} + {1'b0, bytes_q} <= 33'(myri_lanai4_pkg::SIZE_SRAM)));
    if (!$past(rst) && $past(complete || (state_q == START && !alarm.valid))) assert (state_q == IDLE);
    assert (misuse == ((w_ear || w_lar || w_dir || w_ctr) && in_flight));
    if (!$past(rst)) begin
      if ($past(in_flight)) assert ($stable(ear) && $stable(lar) && $stable(dir) && $stable(bytes_q));
      if ($past(in_flight) && !in_flight) assert ($past(set_done || error));
      if (!$past(busy)) begin
        assert ($stable(state_q) && $stable(words_q) && $stable(left_q) && $stable(address_q) && $stable(at_q));
        assert ($stable(upper_q) && $stable(low_q) && $stable(ended_q) && $stable(failed_q) && $stable(start_at_q));
        assert ($stable(ear) && $stable(lar) && $stable(dir) && $stable(bytes_q));
      end
    end
    cover (set_done && state_q == MOVE && dir && bytes_q == 32'd8);
    cover (cmd_valid && left_q < bytes_q);
  end
