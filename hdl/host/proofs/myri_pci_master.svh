// Rules of PCI 2.2 for a master, with any target that obeys its own rules (assumed; settings are stable while the clock
// runs).
// FRAME# falls only on an idle, granted bus, for one address phase, at the next byte of the command. It rises once,
// with IRDY# asserted. IRDY# is held until the data phase ends. After STOP# the current phase is the last, and REQ# is
// deasserted for two clocks. After four clocks without DEVSEL# the command fails. IRDY# waits at most cfg.irdy_wait + 1
// clocks. The byte enables of the data phases that move data name each byte of a command once, in order, on its lane.
// The command is done when all bytes have moved, and a transaction moves at most cfg.max_burst bytes. Wires are driven
// high for one clock before they are released.
// Assumed: the properties proved of myri_pci_master_data.
// prove: induction 2
// unseen: `&` -> `|` in `else last_next = ~ptr_d[2] & (seg_d <= {12'b0, 4'd4 - {2'b0, ptr_d[1:0]}});`: a transaction ends early, and another continues at the next byte
(* anyconst *) logic [41:0] set;
(* anyconst *) logic set_wide;
(* anyconst *) logic [2:0] lane;
logic in_bus;  // FRAME# or IRDY# of a transaction are this master's
logic done;  // this data phase ends
logic ends;  // and the transaction
logic was_done, was_irdy, was_trdy, was_stop, was_devsel, was_ack64;  // at the last edge, in a data phase
logic begun;  // the data phase before was one, too
logic stop_seen;  // in this transaction
logic chosen;  // DEVSEL# was seen
logic [2:0] alone;  // data phases' clocks without DEVSEL#
logic given_up;  // master abort
logic aborted;  // target abort
logic [2:0] slow;  // clocks of this phase without IRDY#
logic [7:0] clocks;  // since FRAME# fell
logic rest_1, rest_2;  // a transaction was stopped one, or two, clocks ago
logic [31:0] first, n_first;  // byte of the active command, and of the waiting one
logic [15:0] bytes, n_bytes;
logic [15:0] sent;  // of the command
logic [15:0] moved;  // in this transaction
logic lost;  // the command failed
logic [31:0] place;  // of the next byte
logic [31:0] at;  // of the lane
logic [7:0] on;  // byte enables
logic [3:0] moves;  // bytes of this phase
logic [31:0] ad_now;
logic parity;
logic driven, driven_ad;

assign in_bus = state_q == ADDR || state_q == DATA;
assign done = irdy_q && (trdy || stop);
assign ends = state_q == DATA && irdy_q && !frame_q && (trdy || stop || given_up || gives_up);
logic gives_up;
assign gives_up = state_q == DATA && !chosen && !devsel && alone == 3'd3;
assign place = first + {16'd0, sent};
assign on = ~pci_out.wires.cbe;
assign at = {place[31:3], 3'd0} + ((wide_now || lane[2]) ? 32'(lane) : half_q ? 32'(lane) + 32'd4 : 32'(lane));
assign moves = 4'(on[0]) + 4'(on[1]) + 4'(on[2]) + 4'(on[3]) +
    (wide_now ? 4'(on[4]) + 4'(on[5]) + 4'(on[6]) + 4'(on[7]) : 4'd0);
assign ad_now = pci_out.wires.ad[31:0];
assign parity = ^{bus.ad[31:0], bus.cbe[3:0]};

initial assume (rst);
always_comb begin
  assume (cfg == set && cfg_wide == set_wide && cfg.max_burst[2:0] == 3'd0 && cfg.irdy_wait <= 3'd6);
  assume (mc.bytes != 16'd0 && {1'b0, mc.addr} + {17'd0, mc.bytes} <= 33'h100000000);
  if (mc_config) assume ({14'd0, mc.addr[1:0]} + mc.bytes <= 16'd4);
  assume (have <= 3'd4);
  if (in_bus) assume (bus.frame_n == !frame_q && bus.irdy_n == !irdy_q);
  if (state_q == ADDR) assume (!devsel && !trdy && !stop);
  if (state_q == DATA) begin
    if (given_up) assume (!devsel && !trdy && !stop);
    if (trdy) assume (devsel);
    if (stop && !devsel) assume (chosen && !trdy);
    if (chosen && !devsel) assume (stop);
    if (aborted) assume (stop && !devsel);
    if (ack64) assume (devsel && ask64_q);
    if (chosen && devsel) assume (ack64 == was_ack64);
    if (begun && !was_done && (was_trdy || was_stop)) assume (trdy == was_trdy && stop == was_stop && devsel == was_devsel);
    if (stop_seen) assume (stop);
    if (begun && was_done && was_stop) assume (!trdy);
  end
end
always @(posedge clk) begin
  {was_done, was_irdy, was_trdy, was_stop, was_devsel} <= {done, irdy_q, trdy, stop, devsel};
  if (devsel) was_ack64 <= ack64;
  begun <= !rst && state_q == DATA && !ends;
  stop_seen <= !rst && state_q == DATA && !ends && (stop_seen || stop);
  chosen <= !rst && state_q == DATA && !ends && (chosen || devsel);
  aborted <= !rst && state_q == DATA && !ends && (aborted || (chosen && stop && !devsel));
  given_up <= !rst && state_q == DATA && !ends && (given_up || gives_up);
  alone <= (rst || state_q != DATA) ? 3'd0 : (chosen || devsel || alone == 3'd4) ? alone : alone + 3'd1;
  slow <= (rst || state_q != DATA || irdy_q) ? 3'd0 : slow + 3'd1;
  clocks <= !in_bus ? 8'd0 : clocks + 8'(clocks != 8'hFF);
  {rest_1, rest_2} <= rst ? 2'b00 : {ends && (stop || stop_seen), rest_1};
  if (!in_bus) moved <= 16'd0;
  else if (xfer) moved <= moved + 16'(moves);
  if (rst) {driven, driven_ad} <= 2'b00;
  else {driven, driven_ad} <= {pci_out.enables.irdy, pci_out.enables.ad_lo};
  if (rst) lost <= 1'b0;
  else if (over) lost <= 1'b0;
  else if (gives_up || (chosen && stop && !devsel)) lost <= 1'b1;
  if (take) {n_first, n_bytes} <= {mc.addr, mc.bytes};
  if (over ? nxt_q : !act_q && take) {first, bytes, sent} <= nxt_q ? {n_first, n_bytes, 16'd0} : {mc.addr, mc.bytes, 16'd0};
  else if (over && take) {first, bytes, sent} <= {mc.addr, mc.bytes, 16'd0};
  else if (xfer) sent <= sent + 16'(moves);
end

always @(posedge clk)
  if (!$initstate && !rst) begin
    if ($past(rst)) assert (state_q == IDLE && !driven && !act_q && !nxt_q && !req_q);
    // Consequences of the state.
    if (nxt_q) assert (act_q && n_addr_q == n_first && n_bytes_q == n_bytes);
    if (act_q) assert (bytes != 16'd0 && {1'b0, first} + {17'd0, bytes} <= 33'h100000000);
    if (nxt_q) assert (n_bytes != 16'd0 && {1'b0, n_first} + {17'd0, n_bytes} <= 33'h100000000);
    if (act_q && !failed_q) assert (ptr_q == place && left_q == bytes - sent && sent < bytes);
    assert (failed_q == lost && (!lost || act_q));
    if (in_bus) assert (act_q && seg_q != 16'd0 && (irdy_q || frame_q) && wide_q <= ask64_q);
    if (in_bus) assert (lost == (given_up || aborted));
    if (in_bus && half_q) assert (!wide_q && place[2]);
    if (in_bus && !failed_q) assert (seg_q == left_q || seg_q < left_q && 3'(place + 32'(seg_q)) == 3'd0);
    if (in_bus && !failed_q && cfg.max_burst != 16'd0) assert ({1'b0, moved} + {1'b0, seg_q} <= {1'b0, cfg.max_burst});
    assert (trace.start == (state_q == ADDR));
    if (state_q == ADDR) assert (frame_q && !irdy_q && !failed_q && moved == 16'd0);
    if (!in_bus) assert (!frame_q && !irdy_q);
    if (state_q == ADDR) assert (clocks == 8'd0 && alone == 3'd0 && slow == 3'd0 && unclaimed_q == 2'd0 && waited_q == 3'd0);
    if (state_q != DATA) assert (!chosen && !stop_seen && !given_up && !aborted && !begun);
    if (in_bus) assert (selected_q == chosen && stopped_q == stop_seen && alone <= 3'd4 && given_up == (alone == 3'd4) && (given_up || unclaimed_q == alone[1:0]));
    if (in_bus) assert (latency_q == (cfg.latency_timer > clocks ? cfg.latency_timer - clocks : 8'd0));
    if (state_q == DATA && irdy_q && frame_q) assert (16'(step) < seg_q);
    if (in_bus && !lost) assert (have != 3'd0);
    if (in_bus && !lost && irdy_q && frame_q) assert (have >= 3'd2 || (!wide_now && !half_q));
    if (flush) assert (have != 3'd0);
    if (in_bus && !chosen) assert (wide_q == ask64_q);
    if (chosen) assert (alone < 3'd4 && wide_q == (ask64_q && was_ack64) && !given_up);
    // Rules of the bus.
    if (xfer) begin
      assert (!lost && sent + 16'(moves) <= bytes);
      if (cfg.max_burst != 16'd0) assert (moved + 16'(moves) <= cfg.max_burst);
    end
    if (state_q == DATA && !lost && (wide_now || lane < 3'd4)) assert (on[lane] == (at >= place && at - first < {16'd0, bytes}));
    if (state_q == ADDR) assert (ad_now == {place[31:3], place[2] & ~ask64_q, 2'b00} && !(ask64_q && !cfg_wide));
    assert (m_done == $past(over && !rst) && m_error == $past(over && lost && !rst));
    if (over && !lost) assert (xfer && ends && sent + 16'(moves) == bytes);
    if (in_bus && !irdy_q) assert (waited_q == slow && slow <= cfg.irdy_wait);
    assert (backoff_q == rest_1 && (!rest_1 || state_q == TURN) && fin == ends);
    if (rest_1 || rest_2) assert (!req_q);
    if (stop_seen && irdy_q) assert (!frame_q);
    assert (pci_out.enables.frame == in_bus && pci_out.enables.irdy == (state_q == DATA || state_q == TURN));
    assert (pci_out.wires.frame_n == !frame_q && pci_out.wires.irdy_n == !irdy_q && pci_out.req_n == !req_q);
    assert (pci_out.enables.cbe_lo || !in_bus);
    if (pci_out.enables.ad_lo) assert (state_q == ADDR || (state_q == DATA && a_write_q) || (!in_bus && park_q));
    if (park_q) assert ($past(gnt && idle_bus) && !in_bus);
    if (!$past(rst)) begin
      if (in_bus && !$past(in_bus)) assert (state_q == ADDR && $past(gnt && idle_bus));
      if ($past(state_q == ADDR)) assert (state_q == DATA);
      if ($past(state_q == DATA && frame_q) && !frame_q) assert (irdy_q);
      if ($past(state_q == DATA && !frame_q)) assert (!frame_q);
      if ($past(state_q == DATA && irdy_q && !done) && !$past(gives_up || given_up)) assert (irdy_q && frame_q == $past(frame_q));
      if ($past(state_q == DATA && irdy_q && !done)) assert (irdy_q || $past(ends));
      if ($past(state_q == DATA)) assert (state_q == ($past(ends) ? TURN : DATA));
      if ($past(state_q == TURN)) assert (state_q != TURN);
      if ($past(gives_up)) assert (!frame_q);
      assert (pci_out.enables.par == driven_ad);
      if (driven_ad) assert (pci_out.wires.par == $past(parity));
      if (driven && !pci_out.enables.irdy) assert ($past(pci_out.wires.irdy_n));
      if ($past(state_q == DATA && done && frame_q) && cfg.latency_timer != 8'd0 && $past(clocks >= cfg.latency_timer && !gnt)) assert (!frame_q);
      if (!$past(needed)) assert ($stable(state_q) && $stable(req_q) && $stable(act_q) && $stable(ptr_q));
    end
    cover (m_done && !m_error);
  end
