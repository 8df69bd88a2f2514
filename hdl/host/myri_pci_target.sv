// PCI 2.2 target: claims memory transactions in its window and configuration cycles, 32 or 64 bits wide.
// Writes are posted to the backend; reads are fetched, and answered by retry (delayed transaction) when they take
// too long.
// Timing: DEVSEL# in the third clock of a transaction (medium, cfg.devsel = 1), TRDY# with it for a write without
// wait states, then a data phase a clock. First read request to the backend three clocks after the address phase.
// A read request is given only when all write beats before it have been taken by the backend.
module myri_pci_target
  import myri_pci_pkg::*;
  import myri_settings_pkg::*;
#(
    parameter int HOLE_LOG2 = 0,  // the first 2**HOLE_LOG2 bytes of the window are not in it; 0 = all are
    parameter int OUTSIDE = 0  // 1 = answer for all that is not in the window
) (
    input logic clk,  // PCI clock
    input logic rst,  // synchronous, active high
    input logic [47:0] cycle,  // index of the coming edge (age of a delayed read)
    input logic [PCI_IN_BITS-1:0] pci_in,  // resolved wires, IDSEL
    output logic [PCI_OUT_BITS-1:0] pci_out,  // drives and enables
    input logic [31:0] bar_base,  // window, first byte
    input logic [5:0] bar_size_log2,  // window, bytes = 2**this (8..32)
    input logic mem_enable,  // 1 = answer memory commands
    input logic cfg_wide,  // 1 = accept 64-bit transfers (ACK64#)
    input pci_target_settings_t cfg,  // of the target
    input logic cfg_target_abort,  // 1 = end every memory transaction by target abort
    output logic tw_valid,  // write beat
    input logic tw_ready,  // write beat taken
    output logic [31:0] tw_addr,  // 8-byte aligned
    output logic [63:0] tw_data,  // lanes
    output logic [7:0] tw_be,  // 1 = byte written
    output logic tr_valid,  // read request
    input logic tr_ready,  // read request taken
    output logic [31:0] tr_addr,  // 8-byte aligned
    output logic [7:0] tr_bytes,  // hint: bytes the master may want from here: 16, 32, 64
    output logic tr_first,  // with tr_valid: first request of a read
    input logic td_valid,  // answer to the oldest request (always taken)
    input logic [63:0] td_data,  // lanes
    output logic cs_write,  // configuration write, strobe
    output logic [5:0] cs_reg,  // configuration register (dword)
    output logic [31:0] cs_wdata,  // configuration write data
    output logic [3:0] cs_be,  // configuration bytes, 1 = written
    input logic [31:0] cs_rdata,  // configuration read data, combinational from cs_reg
    output logic ev_first,  // strobe: first data phase of a transaction moved data
    output logic ev_last,  // strobe: a transaction that moved data ended
    output logic ev_write,  // with ev_first, ev_last: it writes to this target
    output logic ev_retry,  // strobe: transaction refused
    output logic ev_disconnect,  // strobe: transaction stopped by us after data
    output logic needed,  // the coming edge of clk changes something
    output logic busy  // 1 = something of a transaction is open, or an edge is needed
);
  localparam logic [1:0] IDLE = 2'd0;  // nothing claimed
  localparam logic [1:0] DECODE = 2'd1;  // address latched
  localparam logic [1:0] DATA = 2'd2;  // claimed
  localparam logic [1:0] TURN = 2'd3;  // DEVSEL#, TRDY#, STOP# driven high for one clock

  // ---- state ----
  logic [ 1:0] state;
  logic        frame_q;  // FRAME# was asserted at the last edge
  logic [31:2] addr;  // dword of the current data phase
  logic [ 1:0] low_addr;  // AD[1:0] of the address phase
  logic [ 3:0] cmd;  // bus command
  logic ask64, idsel, wide, reading, config_cycle, first, refuse;
  logic devsel, trdy, stop;  // active high copies of DEVSEL#, TRDY#, STOP#
  logic [1:0] decode_wait;
  logic [3:0] waited;  // clocks of this data phase without TRDY#
  logic [7:0] phases;  // data phases done

  // ---- bus as sampled ----
  logic in_frame, in_irdy;
  assign in_frame = ~pci_in[PCI_FRAME_N];
  assign in_irdy  = ~pci_in[PCI_IRDY_N];

  // ---- decoding ----
  logic [31:2] outside;
  logic is_mem, is_config, is_read, in_hole, hit, claim;
  assign is_read = ~cmd[0];
  if (HOLE_LOG2 == 0) begin : gen_whole
    assign in_hole = 1'b0;
  end else begin : gen_hole
    assign in_hole = ((addr ^ bar_base[31:2]) >> (HOLE_LOG2 - 2)) == '0;
  end
  assign outside = (addr ^ bar_base[31:2]) & ~((30'd1 << (bar_size_log2 - 6'd2)) - 30'd1);
  assign is_mem = cmd == PCI_MEM_READ || cmd == PCI_MEM_WRITE || cmd == PCI_MEM_READ_MULTIPLE
      || cmd == PCI_MEM_READ_LINE || cmd == PCI_MEM_WRITE_INV;
  assign is_config = idsel & low_addr == 2'b00 & addr[10:8] == 3'd0
      & (cmd == PCI_CONFIG_READ || cmd == PCI_CONFIG_WRITE);
  assign hit = is_config | (is_mem & mem_enable & ((outside == '0 & ~in_hole) ^ (OUTSIDE != 0)));
  assign claim = (state == DECODE) & hit & (decode_wait == 2'd0);

  // ---- the data phase ----
  logic step, fin, retry, c_step, w_step, r_pop, r_have, r_refuse, w_room;  // step: it moves data
  assign step = (state == DATA) & in_irdy & trdy;
  assign fin = (state == DATA) & in_irdy & (trdy | stop) & ~in_frame;
  assign retry = fin & first & ~step & devsel;
  assign c_step = step & config_cycle & cmd[0];
  assign w_step = step & ~reading & ~config_cycle;
  assign r_pop = step & reading & (wide | addr[2]);

  // What to answer in the next clock, unless a phase is still open (TRDY# or STOP# given, no IRDY# yet).
  logic now_first, now_read, now_config, now_refuse, ready, last_phase;
  logic [3:0] waited_next, need, limit;
  logic [ 7:0] phases_next;
  logic [29:0] addr_next;
  logic go, halt;
  assign now_first = first & ~step;
  assign now_read = claim ? is_read & ~is_config : reading;
  assign now_config = claim ? is_config : config_cycle;
  assign now_refuse = claim ? r_refuse & is_read & ~is_config : refuse;
  assign waited_next = (claim || step) ? 4'd0 : waited;
  assign phases_next = claim ? 8'd0 : phases + {7'd0, step};
  assign addr_next = (claim || !step) ? addr : addr + (wide ? 30'd2 : 30'd1);
  assign need = (!claim && !now_first) ? {1'b0, cfg.subsequent} : now_read ? cfg.read_initial : now_config ? 4'd0
      : cfg.write_initial;
  assign limit = (now_read && (claim || now_first)) ? cfg.read_wait : {1'b0, cfg.stall_limit};
  assign ready = now_config | (now_read ? r_have : w_room);
  assign last_phase = now_config | (cfg.max_phases != 8'd0 & phases_next + 8'd1 == cfg.max_phases)
      | ((addr_next | {29'd0, wide} | (30'h3FFF_FFFF << (bar_size_log2 - 6'd2))) == '1);
  assign go = ready & (waited_next >= need) & ~now_refuse & ~(cfg_target_abort & ~now_config);
  assign halt = (now_refuse | (~ready & waited_next >= need & waited_next >= limit)) &
      ~(cfg_target_abort & ~now_config);

  always_ff @(posedge clk) begin
    if (rst) begin
      state <= IDLE;
      {frame_q, ask64, idsel, wide, reading, config_cycle, first, refuse, devsel, trdy, stop} <= '0;
      {addr, low_addr, cmd, decode_wait, waited, phases} <= '0;
    end else begin
      frame_q <= in_frame;
      if (in_frame && !frame_q && (state == IDLE || state == TURN)) begin
        state <= DECODE;
        addr <= pci_in[PCI_AD+2+:30];
        low_addr <= pci_in[PCI_AD+:2];
        cmd <= pci_in[PCI_CBE+:4];
        ask64 <= ~pci_in[PCI_REQ64_N];
        idsel <= pci_in[PCI_IDSEL];
        decode_wait <= (cfg.devsel == 2'd0) ? 2'd0 : cfg.devsel - 2'd1;
      end else if (state == DECODE) begin
        decode_wait <= decode_wait - 2'd1;
        if (!hit) state <= IDLE;
        else if (claim) begin
          state <= DATA;
          devsel <= 1'b1;
          reading <= now_read;
          config_cycle <= is_config;
          wide <= cfg_wide & ask64 & is_mem;
          refuse <= now_refuse;
        end
      end else if (fin) begin
        state <= TURN;
        {devsel, trdy, stop} <= '0;
      end else if (state == TURN) state <= IDLE;
      first <= claim | (first & ~step);
      if (claim || step) begin
        phases <= phases_next;
        addr   <= addr_next;
      end
      if (claim || (state == DATA && !fin)) begin
        if (state == DATA && cfg_target_abort && !config_cycle) begin
          devsel <= 1'b0;
          trdy   <= 1'b0;
          stop   <= 1'b1;
        end else if (stop) trdy <= trdy & ~step;
        else if (claim || step || !trdy) begin
          waited <= waited_next + 4'd1;
          trdy   <= go;
          stop   <= go ? last_phase & in_frame : halt;
        end
      end
    end
  end

  // ---- strobes ----
  logic moved;
  always_ff @(posedge clk) begin
    ev_first <= step & first & ~rst;
    ev_last <= fin & (moved | step) & ~rst;
    ev_write <= ~reading & ~config_cycle & ~rst;
    ev_retry <= retry & ~rst;
    ev_disconnect <= fin & stop & (moved | step) & ~rst;
    moved <= ~rst & (state == DATA) & (moved | step);
  end

  // ---- data ----
  logic w_busy, r_busy, w_needed, r_needed, w_pending;
  logic [63:0] r_head;
  myri_pci_target_write u_write (
      .*,
      .xfer(w_step),
      .data(pci_in[PCI_AD+:64]),
      .be(~pci_in[PCI_CBE+:8]),
      .room(w_room),
      .pending(w_pending),
      .needed(w_needed),
      .busy(w_busy)
  );
  myri_pci_target_read u_read (
      .*,
      .claim(claim & is_read & is_mem & ~is_config),
      .claim_addr(addr),
      .claim_cmd(cmd),
      .more(in_frame),
      .pop(r_pop),
      .retry(retry & reading),
      .fin(fin & reading),
      .cfg_discard(cfg.discard),
      .have(r_have),
      .refuse(r_refuse),
      .head(r_head),
      .needed(r_needed),
      .busy(r_busy)
  );
  assign cs_write = c_step;
  assign cs_reg = addr[7:2];
  assign cs_wdata = pci_in[PCI_AD+:32];
  assign cs_be = ~pci_in[PCI_CBE+:4];

  myri_pci_target_pins u_pins (
      .*,
      .bus_ad(pci_in[PCI_AD+:64]),
      .bus_cbe(pci_in[PCI_CBE+:8]),
      .drive(state == DATA & ~cmd[0]),
      .in_data(state == DATA),
      .in_turn(state == TURN),
      .data(config_cycle ? {32'd0, cs_rdata} : (~wide & addr[2]) ? {32'd0, r_head[63:32]} : r_head)
  );

  // What a transaction leaves behind on the bus is gone when its TURN is over.
  assign needed = (state != IDLE) | (frame_q != in_frame) | w_needed | r_needed;
  assign busy   = w_busy | r_busy | needed;

  logic unused;
  assign unused = &{1'b0, pci_in, ev_disconnect, bar_base[1:0]};
endmodule
