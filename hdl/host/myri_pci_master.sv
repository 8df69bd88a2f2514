// PCI 2.2 master: turns backend commands into bus transactions, 32 or 64 bits wide.
//
// Retries after STOP#, resumes after a disconnect at the right byte, splits at cfg.max_burst, and obeys the latency
// timer.
// Timing: with GNT# parked, FRAME# falls one clock after the command was accepted (plus cfg.start_delay); one data
// phase per clock; one idle clock between transactions; m_done one clock after the last data phase. IRDY# never waits
// longer than cfg.irdy_wait clocks: a phase is offered with FRAME# low only once the data of the next one are
// available.
// Data beats are exact: on an error the remaining write beats are discarded, and the remaining read beats are returned
// as ones. m_done of a read may precede the transfer of its last beats.
module myri_pci_master
  import myri_pci_pkg::*;
  import myri_settings_pkg::*;
(
    input logic clk,  // PCI clock
    input logic rst,  // synchronous, active high
    input pci_in_t pci_in,  // resolved wires, GNT#
    output pci_out_t pci_out,  // drives, enables, REQ#
    input logic cfg_wide,  // 1 = request 64-bit transfers (REQ64#)
    input pci_master_settings_t cfg,  // configuration of the master
    input logic mc_valid,  // command
    output logic mc_ready,  // command accepted
    input pci_transfer_t mc,  // the command
    input logic mc_config,  // 1 = configuration cycle (type 0, at most 4 bytes)
    input logic mw_valid,  // write beat, one per 8-byte lane group touched
    output logic mw_ready,  // write beat accepted
    input logic [63:0] mw_data,  // in PCI lanes (byte lane = address[2:0])
    output logic mr_valid,  // read beat, one per 8-byte lane group touched
    input logic mr_ready,  // read beat accepted
    output logic [63:0] mr_data,  // in PCI lanes
    output logic m_done,  // strobe: last data phase of the command is over
    output logic m_error,  // with m_done: master abort or target abort
    output pci_master_trace_t trace,  // events of the clock before
    output logic needed,  // 1 = the coming edge of clk changes state
    output logic busy  // 1 = a command is unfinished, or a further edge is needed
);
  typedef enum logic [1:0] {
    IDLE,  // bus not owned (or parked here)
    ADDR,  // address phase
    DATA,  // data phases
    TURN   // IRDY# driven high for one clock
  } state_t;

  // ---- state ----
  state_t state_q;
  logic   park_q;  // parked: AD, C/BE# driven while the bus is idle
  logic frame_q, irdy_q, req_q;  // active high copies of FRAME#, IRDY#, REQ#
  logic ask64_q, wide_q;  // REQ64# asserted in this transaction; transfers are 64 bits wide
  logic       narrow_only_q;  // the target of this command is known to be 32 bits wide
  logic       selected_q;  // DEVSEL# was seen
  logic       stopped_q;  // STOP# was seen in this transaction
  logic       moved_q;  // a data phase of this transaction moved data
  logic       failed_q;  // command ended by an abort: flush
  logic       backoff_q;  // REQ# stays deasserted in this clock after a STOP#
  logic       half_q;  // 32 bits wide: upper dword of the lane group is on the bus
  logic [1:0] unclaimed_q;  // data clocks without DEVSEL#
  logic [2:0] waited_q;  // clocks of IRDY# wait
  logic [7:0] latency_q;  // latency timer
  logic act_q, a_write_q, a_config_q, nxt_q, n_write_q, n_config_q;
  logic [31:0] ptr_q, n_addr_q;  // next byte of the active command; address of the waiting one
  logic [15:0] left_q, seg_q, n_bytes_q;  // bytes left in the command, in this transaction
  logic [7:0] delay_q;  // start delay left

  // ---- bus as sampled ----
  pci_wires_t bus;
  assign bus = pci_in.wires;
  logic trdy, stop, devsel, ack64, gnt, idle_bus;
  assign trdy = ~bus.trdy_n;
  assign stop = ~bus.stop_n;
  assign devsel = ~bus.devsel_n;
  assign ack64 = ~bus.ack64_n;
  assign gnt = ~pci_in.gnt_n;
  assign idle_bus = bus.frame_n & bus.irdy_n;

  // ---- the phase on the bus ----
  logic wide_now, xfer, group_end, fin, abort_m, abort_t;
  logic [3:0]
      in_group,
      in_dword,
      step;  // bytes to the end of the lane group, of the dword; bytes of this phase
  assign in_group = 4'd8 - {1'b0, ptr_q[2:0]};
  assign in_dword = 4'd4 - {2'b0, ptr_q[1:0]};
  assign wide_now = wide_q & (ack64 | ~devsel);     // the answer to REQ64# comes with DEVSEL#
  assign xfer = (state_q == DATA) & irdy_q & trdy;
  always_comb begin
    if (wide_now || half_q) step = (seg_q < {12'b0, in_group}) ? seg_q[3:0] : in_group;
    else if (ptr_q[2]) step = 4'd0;
    else step = (seg_q < {12'b0, in_dword}) ? seg_q[3:0] : in_dword;
  end
  assign group_end = wide_now | half_q | ({12'b0, step} == seg_q);
  assign abort_t = (state_q == DATA) & selected_q & stop & ~devsel;
  assign abort_m = (state_q == DATA) & ~selected_q & ~devsel & (unclaimed_q == 2'd3);
  assign fin = (state_q == DATA) & ~frame_q & irdy_q & (trdy | stop | abort_m | (failed_q & ~stop));

  // ---- the phase after it ----
  logic [31:0] ptr_d;
  logic [15:0] seg_d, left_d;
  logic half_d, last_next, two_next, cut;
  logic [2:0] have, have_next;  // write beats available, or free places for read beats
  logic [3:0] group_next;
  assign ptr_d = xfer ? ptr_q + {28'b0, step} : ptr_q;
  assign seg_d = xfer ? seg_q - {12'b0, step} : seg_q;
  assign left_d = xfer ? left_q - {12'b0, step} : left_q;
  assign half_d = ~wide_now & (xfer ? ~half_q : half_q);
  assign have_next = have - {2'b0, xfer & group_end};
  assign group_next = 4'd8 - {1'b0, ptr_d[2:0]};
  always_comb begin
    if (wide_now || half_d) last_next = seg_d <= {12'b0, group_next};
    else last_next = ~ptr_d[2] & (seg_d <= {12'b0, 4'd4 - {2'b0, ptr_d[1:0]}});
  end
  assign two_next = last_next | (have_next >= 3'd2) | (~wide_now & ~half_d);
  assign cut = (cfg.latency_timer != 8'd0) & (latency_q == 8'd0) & ~gnt;

  // ---- starting ----
  logic want, start, ready_data, wide_start, more_after;
  logic [15:0] seg_start;
  assign seg_start = (cfg.max_burst == 16'd0 || left_q <= cfg.max_burst) ? left_q : cfg.max_burst - {13'b0, ptr_q[2:0]};
  assign wide_start = cfg_wide & ~narrow_only_q & ~a_config_q & (left_q > {12'b0, in_dword});
  assign ready_data = (have >= (a_write_q ? 3'd2 : 3'd4)) | (have != 3'd0 & left_q <= {12'b0, in_group});
  assign want = act_q & ~failed_q & ~backoff_q & (delay_q == 8'd0) & ready_data;
  assign start = (state_q == IDLE || state_q == TURN) & want & gnt & idle_bus;
  assign more_after = nxt_q | (left_q > seg_start);

  // ---- command slots: the active one and one waiting ----
  logic flush, over, take, to_active;
  assign flush = failed_q & act_q & (state_q == IDLE) & (have != 3'd0);
  assign over = (fin & ~failed_q & ~abort_m & ~abort_t & left_d == 16'd0) | (flush & left_q <= {12'b0, in_group});
  assign mc_ready = ~nxt_q;
  assign take = mc_valid & ~nxt_q;
  assign to_active = take & (~act_q | over);
  always_ff @(posedge clk) begin
    m_done  <= over & ~rst;
    m_error <= over & failed_q & ~rst;
    if (rst) begin
      {act_q, nxt_q, a_write_q, a_config_q, n_write_q, n_config_q} <= '0;
      {n_addr_q, n_bytes_q, ptr_q, left_q, delay_q} <= '0;
    end else begin
      if (xfer) begin
        ptr_q  <= ptr_d;
        left_q <= left_d;
      end else if (flush) begin
        ptr_q  <= {ptr_q[31:3] + 29'd1, 3'b0};
        left_q <= left_q - {12'b0, in_group};
      end
      if (delay_q != 8'd0) delay_q <= delay_q - 8'd1;
      if (over) act_q <= 1'b0;
      if (over && nxt_q) begin
        act_q <= 1'b1;
        nxt_q <= 1'b0;
        a_write_q <= n_write_q;
        a_config_q <= n_config_q;
        ptr_q <= n_addr_q;
        left_q <= n_bytes_q;
        delay_q <= cfg.start_delay;
      end
      if (to_active) begin
        act_q <= 1'b1;
        a_write_q <= mc.write;
        a_config_q <= mc_config;
        ptr_q <= mc.addr;
        left_q <= mc.bytes;
        delay_q <= cfg.start_delay;
      end else if (take) begin
        nxt_q <= 1'b1;
        n_write_q <= mc.write;
        n_config_q <= mc_config;
        n_addr_q <= mc.addr;
        n_bytes_q <= mc.bytes;
      end
    end
  end

  // ---- transaction ----
  always_ff @(posedge clk) begin
    trace.start <= start & ~rst;
    {trace.retry, trace.disconnect} <= '0;
    if (fin && !failed_q && !rst) begin
      trace.retry <= stop & ~moved_q & ~xfer & ~abort_t;
      trace.disconnect <= (stopped_q | stop) & (moved_q | xfer) & left_d != 16'd0;
    end
    if (rst) begin
      state_q <= IDLE;
      {frame_q, irdy_q, req_q, ask64_q, wide_q, narrow_only_q, selected_q} <= '0;
      {stopped_q, moved_q, failed_q, backoff_q, half_q, park_q} <= '0;
      {unclaimed_q, waited_q, latency_q, seg_q} <= '0;
    end else begin
      park_q <= gnt & idle_bus & ~start & (state_q == IDLE || state_q == TURN);
      backoff_q <= fin & (stop | stopped_q);
      if (over) begin
        narrow_only_q <= 1'b0;
        failed_q <= 1'b0;
      end
      if (state_q == ADDR || state_q == DATA)
        req_q <= ~(stop | stopped_q) & (nxt_q | left_q > seg_q);
      else req_q <= start ? more_after : want;
      if (state_q == IDLE || state_q == TURN) begin
        state_q <= start ? ADDR : IDLE;
        irdy_q  <= 1'b0;
        if (start) begin
          frame_q <= 1'b1;
          seg_q <= seg_start;
          ask64_q <= wide_start;
          wide_q <= wide_start;
          half_q <= ~wide_start & ptr_q[2];
          latency_q <= cfg.latency_timer;
          {selected_q, stopped_q, moved_q} <= '0;
          unclaimed_q <= '0;
          waited_q <= '0;
        end
      end else begin
        if (latency_q != 8'd0) latency_q <= latency_q - 8'd1;
        half_q <= half_d;
        wide_q <= wide_now;
        seg_q  <= seg_d;
        if (xfer) moved_q <= 1'b1;
        if (state_q == DATA) begin
          if (devsel) selected_q <= 1'b1;
          if (xfer && wide_q && !ack64)
            narrow_only_q <= 1'b1;  // only then: a retried transaction is repeated unchanged
          if (stop) stopped_q <= 1'b1;
          if (abort_t || abort_m) failed_q <= 1'b1;
          if (!selected_q && !devsel) unclaimed_q <= unclaimed_q + 2'd1;
        end
        if (fin) begin
          state_q <= TURN;
          irdy_q  <= 1'b0;
          frame_q <= 1'b0;
        end else begin
          state_q <= DATA;
          if (state_q == DATA && (stop || abort_m || failed_q) && frame_q) begin
            frame_q <= 1'b0;
            irdy_q  <= 1'b1;
          end else if (state_q == ADDR || xfer || !irdy_q) begin
            waited_q <= (irdy_q || state_q == ADDR) ? 3'd0 : waited_q + 3'd1;
            if (two_next && !(cut && xfer)) begin
              irdy_q  <= 1'b1;
              frame_q <= ~last_next;
            end else if (cut || (waited_q >= cfg.irdy_wait && !irdy_q && state_q == DATA)) begin
              irdy_q  <= 1'b1;
              frame_q <= 1'b0;
            end else irdy_q <= 1'b0;
          end
        end
      end
    end
  end

  // ---- data ----
  logic [63:0] head;
  logic data_needed;
  myri_pci_master_data u_data (
      .clk,
      .rst,
      .xfer,
      .group_end,
      .flush,
      .mw_valid,
      .mw_ready,
      .mw_data,
      .mr_valid,
      .mr_ready,
      .mr_data,
      .have,
      .head,
      .half  (half_q),
      .write (a_write_q),
      .wide  (wide_now),
      .bus_ad(bus.ad),
      .needed(data_needed)
  );

  // ---- pins ----
  logic pins_needed, in_addr, in_data, in_turn;
  assign in_addr = state_q == ADDR;
  assign in_data = state_q == DATA;
  assign in_turn = state_q == TURN;
  myri_pci_master_pins u_pins (
      .clk,
      .rst,
      .bus,
      .head,
      .pci_out,
      .park(park_q),
      .frame(frame_q),
      .irdy(irdy_q),
      .req(req_q),
      .ask64(ask64_q),
      .wide(wide_q),
      .half(half_q),
      .in_addr,
      .in_data,
      .in_turn,
      .write(a_write_q),
      .is_config(a_config_q),
      .addr(ptr_q),
      .bytes(seg_q),
      .cfg_line_bytes(cfg.line_bytes),
      .needed(pins_needed)
  );

  // An active command without beats, or without a grant, waits for them. The effects of a transaction on the bus end
  // with its TURN.
  assign needed = (state_q != IDLE) | take | start | flush | (act_q & delay_q != 8'd0) | (req_q != want) | m_done |
      data_needed | (park_q != (gnt & idle_bus)) | pins_needed;
  assign busy = act_q | mr_valid | needed;
endmodule
