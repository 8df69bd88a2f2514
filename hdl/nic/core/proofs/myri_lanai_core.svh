// Registers 0, 1 and 2 read as 0, -1 and the address of the instruction. Any other register (`k`, arbitrary) holds the
// result of the last instruction that wrote it, including loads, whose bytes are those at their address. Every
// instruction writes its register except stores, jumps and those whose condition does not hold. What was read
// from a special register is written a clock later. No instruction reads or writes a register with a pending load. Each
// instruction executes once, in the order defined by jumps with one delay slot and loads of pc with two. Only legal
// instructions inside the SRAM execute, and each access lies inside the SRAM, within one word. A halted processor stays
// halted until reset.
// Assumed: the properties proved of myri_lanai_loads and myri_lanai_registers; a memory that returns read data one clock
// later.
// unseen: `||` -> `&&` in `.computes(moves && (writes_rd || (memory && one.back))),`: the register file is assumed; the bench sees it
// prove: induction 2 WIDTH=64
(* anyconst *) logic [4:0] k;
(* anyconst *) logic [2:0] lane;
(* anyconst *) logic [3:0] register_clocks;
logic [31:0] held;  // register k
logic [223:0] young;  // registers loaded 1 + k clocks ago, one bit each
logic [31:0] pending;
logic [31:0] used;  // registers used by the current instruction
logic [31:0] written;  // registers written by it, at its end
logic coming;  // the data loaded into register k from SRAM arrive now
logic special_comes;  // those from a special register are written at the end of this clock
logic [31:0] kept;  // register k in the register file
logic to_pc;  // the data loaded into pc arrive now
logic [2:0] place;  // its byte in the word
logic [1:0] wide;
logic unsigned_part;
logic [63:0] shifted;
logic [31:0] loaded;
logic [2:0] offset;  // byte in the word of an access
logic [3:0] bytes;  // of an access
logic [31:0] follows;  // the address of the next instruction
logic [1:0] shadows;  // delay slots left of a load of pc
logic known;  // target of the jump
logic [31:0] back_to;
logic [3:0] tried;  // clocks of an access of a special register
logic [31:0] halted_at;  // address of the instruction that halted the core

assign used = (one.reads_rs1 ? 32'd1 << one.rs1 : 32'd0) | (one.second_rs2 ? 32'd1 << one.rs2 : 32'd0) |
    (one.uses_rd ? 32'd1 << one.rd : 32'd0);
assign offset = address[2:0] & 3'(WIDTH / 8 - 1);
assign bytes = 4'd1 << one.size;
assign shifted = cpu_read.data >> {place, 3'd0};
always_comb begin
  pending = young[31:0];
  for (int i = 1; i < 7; i++) if (i < 32'(cfg_load_delay)) pending = pending | young[32*i+:32];
  written = 32'd0;
  if (go && memory && one.back) written[one.rs1] = 1'b1;
  if (go && (writes_rd || one.load)) written[one.rd] = 1'b1;
  case (wide)
    2'd0: loaded = {{24{shifted[7] && !unsigned_part}}, shifted[7:0]};
    2'd1: loaded = {{16{shifted[7] && !unsigned_part}}, shifted[7:0], shifted[15:8]};
    default: loaded = {shifted[7:0], shifted[15:8], shifted[23:16], shifted[31:24]};
  endcase
end

initial assume (rst);
always_comb begin
  assume (k > 5'd2);
  assume (load_waits == ((uses & pending) != 32'd0));
  assume (sram_bytes <= 24'h800000 && sram_bytes[2:0] == 3'd0 && sram_bytes != 24'd0);
  assume (cfg_register_clocks == register_clocks);
  assume (one.rs1 != k || rs1_value == kept);
  assume (one.rs2 != k || rs2_value == kept);
  assume (one.rd != k || rd_value == kept);
end
always @(posedge clk) begin
  if (rst) kept <= 32'd0;
  else if (loading_q && load_rd_q == k) kept <= brought;
  else if (go && (writes_rd || (memory && one.back)) && (memory ? one.rs1 : one.rd) == k) kept <= memory ? sum : result;
  special_comes <= !rst && go && one.load && special && one.rd == k;
  young <= rst ? '0 : {young[191:0], (go && one.load && one.rd > 5'd2) ? 32'd1 << one.rd : 32'd0};
  coming <= !rst && go && one.load && !special && one.rd == k;
  to_pc <= !rst && go && one.load && !special && one.rd == 5'd2;
  {place, wide, unsigned_part} <= {offset, one.size, one.zero_extends};
  tried <= (rst || cpu_reg.valid) ? 4'd0 : tried + 4'(may && memory && special);
  if (!stopped_q) halted_at <= at_q;
  if (rst) {held, shadows, known} <= '0;
  else begin
    if (coming) held <= loaded;
    if (to_pc) {known, back_to} <= {1'b1, loaded};
    if (go) begin
      if (memory && one.back && one.rs1 == k) held <= sum;
      if (one.load && special && one.rd == k) held <= cpu_reg_rdata;
      if (writes_rd && one.rd == k) held <= result;
      if (shadows == 2'd1) known <= 1'b0;
      if (one.load && one.rd == 5'd2) begin
        shadows <= 2'd2;
        if (special) {known, back_to} <= {1'b1, cpu_reg_rdata};
      end else if (shadows != 2'd0) shadows <= shadows - 2'd1;
    end
  end
end

always @(posedge clk)
  if (!$initstate && !rst) begin
    if (!stopped_q) begin  // a halted core has registers that nobody reads
      assert (special_comes == (loading_q && load_special_q && load_rd_q == k));
      if (special_comes) assert (held == special_q && young[k]);
      else assert (kept == held);
      assert (!coming || young[k]);
      if (!special_comes && one.reads_rs1 && one.rs1 == k) assert (first == held);
      if (!special_comes && one.second_rs2 && one.rs2 == k) assert (second == held);
      if (!special_comes && one.uses_rd && one.rd == k) assert (datum == held);
      if (one.rs1 <= 5'd2) assert (first == (one.rs1 == 5'd0 ? 32'd0 : one.rs1 == 5'd1 ? '1 : at_q));
      if (one.second_rs2 && one.rs2 <= 5'd2) assert (second == (one.rs2 == 5'd0 ? 32'd0 : one.rs2 == 5'd1 ? '1 : at_q));
      if (!one.second_rs2) assert (second == one.constant);
      if (one.rd <= 5'd2) assert (datum == (one.rd == 5'd0 ? 32'd0 : one.rd == 5'd1 ? '1 : at_q));
      if (go) assert ((used & pending) == 32'd0 && one.legal && have);
      if (go) assert (writes_rd == !(memory || one.branch || one.relative || (one.alu && !holds)));
      if (coming || special_comes) assert (!written[k]);
      if (go) assert (at_q[31:24] == 8'd0 && 24'(at_q) + 24'd4 <= sram_bytes);
      if (go && memory) assert (one.size == 2'd0 || !address[0] && (one.size == 2'd1 || !address[1]));
      assert (unaligned == (one.size != 2'd0 && (address[0] || (one.size[1] && address[1]))));
      if (go && memory && special) assert (cpu_reg.valid && one.size == 2'd2 && tried == cfg_register_clocks);
      if (go && memory && !special) assert (cpu_sram.req && cpu_gnt);
      if (cpu_reg.valid) begin
        assert (go && memory && special && cpu_reg.write == one.store && cpu_reg.wdata == datum);
        assert (cpu_reg.addr == 9'(address[REGISTER_BITS-1:0]));
      end
      assert (special == (address >= (32'd0 - (32'd1 << REGISTER_BITS))));
      if (access) begin
        assert (memory && !special && address < 32'(sram_bytes) && cpu_sram.addr == {address[22:LANE], {LANE{1'b0}}});
        assert (cpu_sram.write == one.store);
        if (one.store && 32'(lane) < WIDTH / 8) begin
          assert (cpu_sram.be[lane] == (lane >= offset && 4'(lane) < 4'(offset) + bytes));
          if (cpu_sram.be[lane])
            assert (8'(cpu_sram.wdata >> {lane, 3'd0}) == 8'(datum >> {2'(bytes - 4'd1 - (4'(lane) - 4'(offset))), 3'd0}));
        end
      end else assert (!cpu_sram.write && cpu_sram.be == 8'd0);
      if (go && access) assert (cpu_gnt);
      assert (return_left_q == shadows && return_known_q == known && (!known || return_to_q == back_to && shadows != 2'd0));
      assert (shadows != 2'd3 && (!to_pc || !known));
      assert (loading_q == (coming || to_pc || special_comes) || load_rd_q != k && load_rd_q != 5'd2);
      if (coming) assert (load_rd_q == k);
      if (to_pc) assert (load_rd_q == 5'd2 && shadows == 2'd2);
      if (coming || to_pc) assert (wide == 2'd0 || !place[0] && (wide == 2'd1 || wide == 2'd2 && !place[1]));
      if (coming || to_pc) assert (!load_special_q);
      if (coming || to_pc) assert (loading_q && load_size_q == wide && load_zero_q == unsigned_part && load_lane_q[LANE-1:0] == place[LANE-1:0]);
      assert (register_wait_q == tried && tried <= cfg_register_clocks);
    end else assert (!go && !access && !cpu_reg.valid && !cpu_sram.req && !cpu_sram.write && cpu_sram.be == 8'd0);
    assert (stopped_q == (fault_q != myri_lanai_isa_pkg::FAULT_NONE));
    if ($past(rst)) assert (at_q == 32'd0 && after_q == 32'd4 && fault == myri_lanai_isa_pkg::FAULT_NONE && {z_q, n_q, v_q, c_q} == 4'd0);
    else begin
      if ($past(go)) begin
        assert (at_q == $past(shadows == 2'd1 ? back_to : after_q));
        assert (after_q == $past(shadows == 2'd1 ? back_to + 32'd4 : jumps ? target : after_q + 32'd4));
        if ($past(shadows == 2'd1)) assert ($past(known));
      end else if (!stopped_q) assert ($stable(at_q) && $stable(after_q) && $stable({z_q, n_q, v_q, c_q}));
      if ($past(go && !(one.sets_flags && holds))) assert ($stable({z_q, n_q, v_q, c_q}));
      if ($past(go && one.sets_flags && holds))
        assert ({z_q, n_q, v_q, c_q} == {$past(sum) == 32'd0, $past(sum[31]), $past(overflow), $past(carry)});
      if ($past(stopped_q)) assert (stopped_q && $stable(fault_q) && !go && !cpu_reg.valid && !cpu_sram.req);
      if (!$past(stopped_q) && stopped_q) assert (fault_q == $past(wrong) && !$past(go));
    end
    assert (trace == {go, stopped_q ? halted_at : at_q, stall} && (stall != myri_lanai_isa_pkg::STALL_NONE) == (!go && !stopped_q));
    cover (coming);
  end
