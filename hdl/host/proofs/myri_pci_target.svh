// Rules of PCI 2.2 for a target, with any master that obeys its own rules (assumed; settings are stable while the clock
// runs).
// Each address phase is decoded. Exactly the transactions in the window and the card's configuration cycles are
// claimed, in the clock given by cfg.devsel. TRDY# requires DEVSEL#. An asserted response is held until IRDY# ends the
// data phase; STOP# is held until the transaction ends, and no further data move. Each phase is answered within its
// limit of clocks, and none is counted twice. The address advances with the phases that moved data, by at most
// cfg.max_phases, never out of the window. Wires are driven high for one clock before they are released, AD never in
// the clock after the address phase. Parity is even.
// prove: induction 2 HOLE_LOG2=12
// prove: induction 2 OUTSIDE=1
// unseen: `32'd0` (1) -> `32'd1` in `.data(config_cycle_q ? {32'd0, cs_rdata} : (~wide_q & addr_q[2]) ? {32'd0, r_head[63:32]} : r_head)`: lanes not driven in a 32-bit transfer
// unseen: `32'd0` (2) -> `32'd1` in `.data(config_cycle_q ? {32'd0, cs_rdata} : (~wide_q & addr_q[2]) ? {32'd0, r_head[63:32]} : r_head)`: lanes not driven in a 32-bit transfer
logic frame_on, irdy_on;
(* anyconst *) logic [43:0] set;
(* anyconst *) logic [40:0] standing;
(* anyseq *) logic others_end;  // another target ends the data phase, or the master gives up
logic open;  // a transaction is on the bus
logic was_frame, was_irdy, was_done;  // at the last edge
logic stop_seen;  // in this transaction
logic in_window;
logic in_place;  // its address is this target's
logic [32:0] from;  // first byte of the window
logic [30:0] beyond;  // dword of the phase after this one
logic leaves;  // the data phase after it leaves the window
logic mine;
logic done;  // this data phase ends
logic ends;  // and the transaction
logic [31:2] where;  // dword of the data phase
logic [1:0] speed;  // clocks from the address phase to DEVSEL#
logic [1:0] decoded;  // clocks since the address phase
logic [3:0] quiet;  // clocks of this phase without an answer
logic [3:0] least, most;  // limit of its own waits and of waits for the backend
logic [3:0] patience;  // clocks within which it is answered
logic [7:0] moved;  // data phases that moved data
logic none_yet;  // no data phase has moved data yet
logic over;  // data moved with STOP#, so no more does
logic memory;  // a command of memory
logic for_us;  // as decoded: a configuration cycle
logic its;  // the same, for the current transaction
logic driven;  // at the last edge: control wires, AD
logic driven_ad;
logic after_address;
logic [37:0] shown;  // by the master: address, command, REQ64#, IDSEL
logic [31:0] low;  // AD as driven
logic high;  // DEVSEL#, TRDY#, STOP#
logic parity;  // of AD and C/BE#

assign {frame_on, irdy_on} = ~{bus.frame_n, bus.irdy_n};
assign shown = {bus.ad[31:0], bus.cbe[3:0], !bus.req64_n, pci_in.idsel};
assign high = {pci_out.wires.devsel_n, pci_out.wires.trdy_n, pci_out.wires.stop_n} == 3'b111;
assign low = pci_out.wires.ad[31:0];
assign parity = ^{bus.ad[31:0], bus.cbe[3:0]};
assign memory = cmd_q == 4'h6 || cmd_q == 4'h7 || cmd_q == 4'hC || cmd_q == 4'hE || cmd_q == 4'hF;
assign for_us = idsel_q && {addr_q[10:8], low_addr_q} == 5'd0 && (cmd_q == 4'hA || cmd_q == 4'hB);
always_comb begin
  from = {1'b0, addr_q, 2'b00} >> bar_size_log2;
  in_window = from == ({1'b0, bar_base} >> bar_size_log2);
  in_place = in_window;
  if (HOLE_LOG2 != 0) if (({addr_q, 2'b00} >> HOLE_LOG2) == (bar_base >> HOLE_LOG2)) in_place = 1'b0;
  if (OUTSIDE != 0) in_place = !in_place;
end
assign speed = (cfg.devsel == 2'd0) ? 2'd1 : cfg.devsel;
assign least = !none_yet ? {1'b0, cfg.subsequent} : reading_q ? cfg.read_initial : its ? 4'd0 : cfg.write_initial;
assign most = (none_yet && reading_q) ? cfg.read_wait : {1'b0, cfg.stall_limit};
assign patience = (least < most) ? most : least;
assign beyond = {1'b0, where} + (wide_q ? 31'd2 : 31'd1);
assign leaves = ({beyond, 2'b00} >> bar_size_log2) != from;
assign mine = state_q == DATA || (state_q == DECODE && hit);
assign done = irdy_on && (mine ? trdy_q || stop_q : others_end);
assign ends = open && !frame_on && done;

initial assume (rst);
always_comb begin
  assume (cfg == set);
  assume ({cfg_wide, cfg_target_abort, mem_enable, bar_size_log2, bar_base} == standing);
  assume (bar_size_log2 >= 6'd8 && bar_size_log2 <= 6'd32);
  if (!open) assume (!irdy_on);
  else begin
    if (!was_frame) assume (!frame_on);
    if (was_frame && !frame_on) assume (irdy_on);
    if (was_irdy && !was_done) assume (irdy_on && frame_on == was_frame);
    if (stop_seen && irdy_on) assume (!frame_on);
  end
end
always @(posedge clk) begin
  {was_frame, was_irdy, was_done} <= {frame_on, irdy_on, done};
  stop_seen <= !rst && open && !ends && (stop_seen || (mine && stop_q));
  if (state_q == DECODE) its <= for_us;
  after_address <= !open && frame_on;
  if (rst) open <= 1'b0;
  else if (open) open <= !ends;
  else open <= frame_on;
  decoded <= (state_q == DECODE) ? decoded + 2'd1 : 2'd0;
  if (claim || step) quiet <= 4'd0;
  else if (state_q == DATA && !trdy_q && !stop_q) quiet <= quiet + 4'd1;
  if (!open) where <= bus.ad[31:2];
  else if (step) where <= where + (wide_q ? 30'd2 : 30'd1);
  if (!open) {moved, none_yet, over} <= {8'd0, 1'b1, 1'b0};
  else if (step) {moved, none_yet, over} <= {moved + 8'd1, 1'b0, stop_q};
  if (rst) {driven, driven_ad} <= 2'b00;
  else {driven, driven_ad} <= {pci_out.enables.devsel, pci_out.enables.ad_lo};
end

always @(posedge clk)
  if (!$initstate && !rst) begin
    if ($past(rst)) assert (state_q == IDLE && !driven);
    assert (frame_q == (open && was_frame) || $past(rst));
    assert (!frame_q || open);
    if (state_q == DATA || state_q == DECODE) assert (open && addr_q == where);
    if (open && (state_q == IDLE || state_q == TURN)) assert (frame_q || !was_frame);
    if (state_q == DATA) assert (config_cycle_q == its && (its || memory) && reading_q == (!cmd_q[0] && !its));
    if (state_q == DATA && cfg_target_abort && !its) assert (!trdy_q && stop_q == !devsel_q);
    if (state_q == DECODE) assert (decoded < speed && decode_wait_q == speed - 2'd1 - decoded);
    if (open && !was_frame) assert (was_irdy && !was_done);
    if (open && none_yet) assert (moved == 8'd0 && !over);
    if (state_q == DATA && cfg.max_phases != 8'd0 && !its) assert (moved < cfg.max_phases || over);
    if (OUTSIDE == 0 && state_q == DATA && !its) begin
      assert (in_window || over);
      if (trdy_q && leaves) assert (stop_q || !was_frame);
    end
    if (state_q == DECODE) assert (none_yet && moved == 8'd0 && !over);
    if (state_q != TURN) assert (moved_q == (state_q == DATA && !none_yet));
    if (trdy_q && cfg.max_phases != 8'd0 && !config_cycle_q)
      assert (moved < cfg.max_phases && (9'(moved) + 9'd1 < 9'(cfg.max_phases) || stop_q || !was_frame));
    if (state_q != DATA) assert (!devsel_q && !trdy_q && !stop_q);
    if (stop_seen && mine) assert (stop_q);
    if (state_q == DATA) begin
      assert (phases_q == moved && first_q == none_yet);
      assert (devsel_q || (cfg_target_abort && stop_q && !trdy_q));
      if (!stop_q && !trdy_q && devsel_q && !(cfg_target_abort && !its)) assert (waited_q == quiet + 4'd1 && quiet < patience);
    end
    if (step) begin
      assert (!over && devsel_q && (cfg.max_phases == 8'd0 || moved < cfg.max_phases || config_cycle_q));
      if (OUTSIDE == 0) assert (its || in_window);
      if (config_cycle_q) assert (none_yet);
    end
    assert (r_pop == (step && !cmd_q[0] && !its && (wide_q || where[2])) && w_step == (step && cmd_q[0] && !its));
    if (over && state_q == DATA) assert (stop_q && !trdy_q);
    assert (step == (state_q == DATA && irdy_on && !pci_out.wires.trdy_n));
    assert (cs_write == (step && config_cycle_q && cmd_q[0]));
    if (cs_write) assert (cs_reg == where[7:2] && cs_wdata == bus.ad[31:0] && cs_be == ~bus.cbe[3:0]);
    if (state_q == DATA && its) assert (!wide_q && !refuse_q && (none_yet || over) && (!trdy_q || none_yet && (stop_q || !was_frame)));
    if (pci_out.enables.ad_lo) assert (state_q == DATA && !cmd_q[0] && !after_address);
    if (pci_out.enables.ad_lo) assert (low == (its ? cs_rdata : (!wide_q && where[2]) ? r_head[63:32] : r_head[31:0]));
    if (pci_out.enables.ad_hi) assert (pci_out.enables.ad_lo && wide_q && pci_out.wires.ad[63:32] == r_head[63:32]);
    assert (pci_out.enables.devsel == (state_q == DATA || state_q == TURN));
    assert (pci_out.enables.trdy == pci_out.enables.devsel && pci_out.enables.stop == pci_out.enables.devsel);
    assert ({pci_out.wires.devsel_n, pci_out.wires.trdy_n, pci_out.wires.stop_n} == ~{devsel_q, trdy_q, stop_q});
    assert (pci_out.enables.ack64 == (wide_q && pci_out.enables.devsel) && pci_out.wires.ack64_n == !(devsel_q && wide_q));
    if (state_q == DATA && wide_q) assert (ask64_q && cfg_wide);
    if (!$past(rst)) begin
      if ($past(frame_on && !open)) begin
        assert (state_q == DECODE && {addr_q, low_addr_q, cmd_q, ask64_q, idsel_q} == $past(shown));
      end else if (state_q == DECODE) assert ($past(state_q == DECODE && hit));
      if (state_q == DECODE) assert (hit == (for_us || (in_place && mem_enable && memory)));
      if (state_q == DATA && $past(state_q != DATA)) begin
        assert ($past(state_q == DECODE && hit) && devsel_q && none_yet);
        assert ($past(decoded) + 2'd1 == speed);
      end
      if ($past(state_q == DATA && (trdy_q || stop_q) && !irdy_on) && !cfg_target_abort)
        assert ({devsel_q, trdy_q, stop_q} == $past({devsel_q, trdy_q, stop_q}));
      if ($past(state_q == DATA && stop_q && !ends)) assert (stop_q && $stable(devsel_q));
      if ($past(state_q == DATA && trdy_q && !irdy_on) && !cfg_target_abort) assert (trdy_q);
      if ($past(state_q == DATA && devsel_q && !trdy_q && !stop_q && !refuse_q) && stop_q && !trdy_q && devsel_q)
        assert ($past({1'b0, quiet}) + 5'd1 >= $past({1'b0, patience}));
      if ($past(mine && ends)) assert (state_q == TURN);
      if ($past(state_q == DATA && !ends)) assert (state_q == DATA && $stable(wide_q) && $stable(cmd_q));
      if ($past(state_q == TURN)) assert (state_q != TURN);
      if (driven && !pci_out.enables.devsel) assert ($past(high));
      assert (pci_out.enables.par == driven_ad);
      if (driven_ad) assert (pci_out.wires.par == $past(parity));
      assert (trace.first == $past(step && none_yet) && trace.last == $past(mine && ends && (step || !none_yet)));
      if (trace.first || trace.last) assert (trace.write == $past(cmd_q[0] && !its));
      assert (trace.retry == $past(mine && ends && none_yet && !step && devsel_q));
      assert (trace.disconnect == $past(mine && ends && stop_q && (step || !none_yet)));
      if ($past(!needed)) assert ($stable(state_q) && $stable(frame_q) && $stable(addr_q));
    end
    cover (ends && mine && moved == 8'd2);
    cover (ends && stop_q && none_yet);
  end
