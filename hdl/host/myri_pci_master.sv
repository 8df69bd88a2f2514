// PCI 2.2 master: turns backend commands into bus transactions, 32 or 64 bits wide.
// Retries after STOP#, resumes after a disconnect at the right byte, splits at cfg.max_burst, obeys the latency
// timer.
// Timing: with GNT# parked, FRAME# falls one clock after the command was taken (plus cfg.start_delay); one data
// phase a clock; one idle clock between transactions; m_done in the clock after the last data phase.
// IRDY# never waits longer than cfg.irdy_wait clocks: a phase is offered with FRAME# low only while the next one is
// in hand.
// Data beats are exact: on an error the rest of the write beats is swallowed, the rest of the read beats is given as
// ones.
// A read's m_done may come before its last beats were taken.
module myri_pci_master
  import myri_pci_pkg::*;
  import myri_settings_pkg::*;
(
    input logic clk,  // PCI clock
    input logic rst,  // synchronous, active high
    input logic [PCI_IN_BITS-1:0] pci_in,  // resolved wires, GNT#
    output logic [PCI_OUT_BITS-1:0] pci_out,  // drives, enables, REQ#
    input logic cfg_wide,  // 1 = ask for 64-bit transfers (REQ64#)
    input pci_master_settings_t cfg,  // of the master
    input logic mc_valid,  // command
    output logic mc_ready,  // command taken
    input logic mc_write,  // 1 = write to the bus
    input logic mc_config,  // 1 = configuration cycle (type 0, at most 4 bytes)
    input logic [31:0] mc_addr,  // byte address
    input logic [15:0] mc_bytes,  // 1..65535
    input logic mw_valid,  // write beat, one per 8-byte lane group touched
    output logic mw_ready,  // write beat taken
    input logic [63:0] mw_data,  // in PCI lanes (byte lane = address[2:0])
    output logic mr_valid,  // read beat, one per 8-byte lane group touched
    input logic mr_ready,  // read beat taken
    output logic [63:0] mr_data,  // in PCI lanes
    output logic m_done,  // strobe: last data phase of the command is over
    output logic m_error,  // with m_done: master abort or target abort
    output logic ev_start,  // strobe: FRAME# falls
    output logic ev_retry,  // strobe: target refused the first data phase
    output logic ev_disconnect,  // strobe: target stopped a burst
    output logic needed,  // the coming edge of clk changes something
    output logic busy  // 1 = a command is open, or an edge is needed
);
  localparam logic [1:0] IDLE = 2'd0;  // bus not ours (or parked here)
  localparam logic [1:0] ADDR = 2'd1;  // address phase
  localparam logic [1:0] DATA = 2'd2;  // data phases
  localparam logic [1:0] TURN = 2'd3;  // IRDY# driven high for one clock

  // ---- state ----
  logic [1:0] state;
  logic       park;  // parked: AD, C/BE# driven while the bus is idle
  logic frame, irdy, req;  // active high copies of FRAME#, IRDY#, REQ#
  logic ask64, wide;  // REQ64# asserted in this transaction; transfers are 64 bits wide
  logic       narrow_only;  // target of this command is known to be 32 bits wide
  logic       selected;  // DEVSEL# was seen
  logic       stopped;  // STOP# was seen in this transaction
  logic       moved;  // a data phase of this transaction moved data
  logic       failed;  // command ended by an abort: flush
  logic       backoff;  // REQ# stays off for this clock after a STOP#
  logic       half;  // 32 bits wide: upper dword of the lane group is on the bus
  logic [1:0] unclaimed;  // data clocks without DEVSEL#
  logic [2:0] waited;  // clocks of IRDY# wait
  logic [7:0] latency;  // latency timer
  logic act, a_write, a_config, nxt, n_write, n_config;
  logic [31:0] ptr, n_addr;  // next byte of the active command; address of the waiting one
  logic [15:0] left, seg, n_bytes;  // bytes left in the command, in this transaction
  logic [7:0] delay;  // start delay left

  // ---- bus as sampled ----
  logic trdy, stop, devsel, ack64, gnt, idle_bus;
  assign trdy = ~pci_in[PCI_TRDY_N];
  assign stop = ~pci_in[PCI_STOP_N];
  assign devsel = ~pci_in[PCI_DEVSEL_N];
  assign ack64 = ~pci_in[PCI_ACK64_N];
  assign gnt = ~pci_in[PCI_GNT_N];
  assign idle_bus = pci_in[PCI_FRAME_N] & pci_in[PCI_IRDY_N];

  // ---- the phase on the bus ----
  logic wide_now, xfer, group_end, fin, abort_m, abort_t;
  logic [3:0]
      in_group,
      in_dword,
      step;  // bytes to the end of the lane group, of the dword; bytes of this phase
  assign in_group = 4'd8 - {1'b0, ptr[2:0]};
  assign in_dword = 4'd4 - {2'b0, ptr[1:0]};
  assign wide_now = wide & (ack64 | ~devsel);     // the answer to REQ64# comes with DEVSEL#
  assign xfer = (state == DATA) & irdy & trdy;
  always_comb begin
    if (wide_now || half) step = (seg < {12'b0, in_group}) ? seg[3:0] : in_group;
    else if (ptr[2]) step = 4'd0;
    else step = (seg < {12'b0, in_dword}) ? seg[3:0] : in_dword;
  end
  assign group_end = wide_now | half | ({12'b0, step} == seg);
  assign abort_t = (state == DATA) & selected & stop & ~devsel;
  assign abort_m = (state == DATA) & ~selected & ~devsel & (unclaimed == 2'd3);
  assign fin = (state == DATA) & ~frame & irdy & (trdy | stop | abort_m | (failed & ~stop));

  // ---- the phase after it ----
  logic [31:0] ptr_next;
  logic [15:0] seg_next, left_next;
  logic half_next, last_next, two_next, cut;
  logic [2:0] have, have_next;  // write beats in hand, or free places for read beats
  logic [3:0] group_next;
  assign ptr_next   = xfer ? ptr + {28'b0, step} : ptr;
  assign seg_next   = xfer ? seg - {12'b0, step} : seg;
  assign left_next  = xfer ? left - {12'b0, step} : left;
  assign half_next  = ~wide_now & (xfer ? ~half : half);
  assign have_next  = have - {2'b0, xfer & group_end};
  assign group_next = 4'd8 - {1'b0, ptr_next[2:0]};
  always_comb begin
    if (wide_now || half_next) last_next = seg_next <= {12'b0, group_next};
    else last_next = ~ptr_next[2] & (seg_next <= {12'b0, 4'd4 - {2'b0, ptr_next[1:0]}});
  end
  assign two_next = last_next | (have_next >= 3'd2) | (~wide_now & ~half_next);
  assign cut = (cfg.latency_timer != 8'd0) & (latency == 8'd0) & ~gnt;

  // ---- starting ----
  logic want, start, ready_data, wide_start, more_after;
  logic [15:0] seg_start;
  assign seg_start = (cfg.max_burst == 16'd0 || left <= cfg.max_burst) ? left : cfg.max_burst - {13'b0, ptr[2:0]};
  assign wide_start = cfg_wide & ~narrow_only & ~a_config & (left > {12'b0, in_dword});
  assign ready_data = (have >= (a_write ? 3'd2 : 3'd4)) | (have != 3'd0 & left <= {12'b0, in_group});
  assign want = act & ~failed & ~backoff & (delay == 8'd0) & ready_data;
  assign start = (state == IDLE || state == TURN) & want & gnt & idle_bus;
  assign more_after = nxt | (left > seg_start);

  // ---- command slots: the active one and one waiting ----
  logic flush, over, take, to_active;
  assign flush = failed & act & (state == IDLE) & (have != 3'd0);
  assign over = (fin & ~failed & ~abort_m & ~abort_t & left_next == 16'd0) | (flush & left <= {12'b0, in_group});
  assign mc_ready = ~nxt;
  assign take = mc_valid & ~nxt;
  assign to_active = take & (~act | over);
  always_ff @(posedge clk) begin
    m_done  <= over & ~rst;
    m_error <= over & failed & ~rst;
    if (rst) begin
      {act, nxt, a_write, a_config, n_write, n_config} <= '0;
      {n_addr, n_bytes, ptr, left, delay} <= '0;
    end else begin
      if (xfer) begin
        ptr  <= ptr_next;
        left <= left_next;
      end else if (flush) begin
        ptr  <= {ptr[31:3] + 29'd1, 3'b0};
        left <= left - {12'b0, in_group};
      end
      if (delay != 8'd0) delay <= delay - 8'd1;
      if (over) act <= 1'b0;
      if (over && nxt) begin
        act <= 1'b1;
        nxt <= 1'b0;
        a_write <= n_write;
        a_config <= n_config;
        ptr <= n_addr;
        left <= n_bytes;
        delay <= cfg.start_delay;
      end
      if (to_active) begin
        act <= 1'b1;
        a_write <= mc_write;
        a_config <= mc_config;
        ptr <= mc_addr;
        left <= mc_bytes;
        delay <= cfg.start_delay;
      end else if (take) begin
        nxt <= 1'b1;
        n_write <= mc_write;
        n_config <= mc_config;
        n_addr <= mc_addr;
        n_bytes <= mc_bytes;
      end
    end
  end

  // ---- transaction ----
  always_ff @(posedge clk) begin
    ev_start <= start & ~rst;
    {ev_retry, ev_disconnect} <= '0;
    if (fin && !failed && !rst) begin
      ev_retry <= stop & ~moved & ~xfer & ~abort_t;
      ev_disconnect <= (stopped | stop) & (moved | xfer) & left_next != 16'd0;
    end
    if (rst) begin
      state <= IDLE;
      {frame, irdy, req, ask64, wide, narrow_only, selected, stopped, moved, failed, backoff, half, park} <= '0;
      {unclaimed, waited, latency, seg} <= '0;
    end else begin
      park <= gnt & idle_bus & ~start & (state == IDLE || state == TURN);
      backoff <= fin & (stop | stopped);
      if (over) begin
        narrow_only <= 1'b0;
        failed <= 1'b0;
      end
      if (state == ADDR || state == DATA) req <= ~(stop | stopped) & (nxt | left > seg);
      else req <= start ? more_after : want;
      if (state == IDLE || state == TURN) begin
        state <= start ? ADDR : IDLE;
        irdy  <= 1'b0;
        if (start) begin
          frame <= 1'b1;
          seg <= seg_start;
          ask64 <= wide_start;
          wide <= wide_start;
          half <= ~wide_start & ptr[2];
          latency <= cfg.latency_timer;
          {selected, stopped, moved} <= '0;
          unclaimed <= '0;
          waited <= '0;
        end
      end else begin
        if (latency != 8'd0) latency <= latency - 8'd1;
        half <= half_next;
        wide <= wide_now;
        seg  <= seg_next;
        if (xfer) moved <= 1'b1;
        if (state == DATA) begin
          if (devsel) selected <= 1'b1;
          if (xfer && wide && !ack64)
            narrow_only <= 1'b1;  // only then: a refused transaction is repeated as it was
          if (stop) stopped <= 1'b1;
          if (abort_t || abort_m) failed <= 1'b1;
          if (!selected && !devsel) unclaimed <= unclaimed + 2'd1;
        end
        if (fin) begin
          state <= TURN;
          irdy  <= 1'b0;
          frame <= 1'b0;
        end else begin
          state <= DATA;
          if (state == DATA && (stop || abort_m || failed) && frame) begin
            frame <= 1'b0;
            irdy  <= 1'b1;
          end else if (state == ADDR || xfer || !irdy) begin
            waited <= (irdy || state == ADDR) ? 3'd0 : waited + 3'd1;
            if (two_next && !(cut && xfer)) begin
              irdy  <= 1'b1;
              frame <= ~last_next;
            end else if (cut || (waited >= cfg.irdy_wait && !irdy && state == DATA)) begin
              irdy  <= 1'b1;
              frame <= 1'b0;
            end else irdy <= 1'b0;
          end
        end
      end
    end
  end

  // ---- data ----
  logic [63:0] head;
  logic data_needed;
  myri_pci_master_data u_data (
      .*,
      .write (a_write),
      .wide  (wide_now),
      .bus_ad(pci_in[PCI_AD+:64]),
      .needed(data_needed)
  );

  // ---- pins ----
  logic pins_needed;
  myri_pci_master_pins u_pins (
      .*,
      .bus_ad(pci_in[PCI_AD+:64]),
      .bus_cbe(pci_in[PCI_CBE+:8]),
      .in_addr(state == ADDR),
      .in_data(state == DATA),
      .in_turn(state == TURN),
      .write(a_write),
      .is_config(a_config),
      .addr(ptr),
      .bytes(seg),
      .cfg_line_bytes(cfg.line_bytes),
      .needed(pins_needed)
  );

  // An active command without beats, or without a grant, waits for them. What a transaction leaves behind is gone when
  // its TURN is over.
  assign needed = (state != IDLE) | take | start | flush | (act & delay != 8'd0) | (req != want) | m_done | data_needed
      | (park != (gnt & idle_bus)) | pins_needed;
  assign busy = act | mr_valid | needed;
endmodule
