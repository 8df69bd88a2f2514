// PCI 2.2 target: claims memory transactions in its window and configuration cycles, 32 or 64 bits wide.
//
// Writes are posted to the backend. Reads are fetched, and answered with a retry (delayed transaction) when they take
// too long.
// Timing: DEVSEL# in the third clock of a transaction (medium, cfg.devsel = 1), TRDY# together with it for a write
// without wait states, then one data phase per clock. The first read request reaches the backend three clocks after the
// address phase, and only after the backend has accepted all earlier write beats.
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
    input pci_in_t pci_in,  // resolved wires, IDSEL
    output pci_out_t pci_out,  // drives and enables
    input logic [31:0] bar_base,  // window, first byte
    input logic [5:0] bar_size_log2,  // window, bytes = 2**this (8..32)
    input logic mem_enable,  // 1 = answer memory commands
    input logic cfg_wide,  // 1 = accept 64-bit transfers (ACK64#)
    input pci_target_settings_t cfg,  // configuration of the target
    input logic cfg_target_abort,  // 1 = end every memory transaction by target abort
    output logic tw_valid,  // write beat
    input logic tw_ready,  // write beat accepted
    output pci_write_t tw,  // the beat
    output logic tread_valid,  // read request
    input logic tread_ready,  // read request accepted
    output pci_read_t tread,  // the request
    input logic td_valid,  // answer to the oldest request (always taken)
    input logic [63:0] td_data,  // byte lanes
    output logic cs_write,  // configuration write, strobe
    output logic [5:0] cs_reg,  // configuration register (dword)
    output logic [31:0] cs_wdata,  // configuration write data
    output logic [3:0] cs_be,  // configuration bytes, 1 = written
    input logic [31:0] cs_rdata,  // configuration read data, combinational from cs_reg
    output pci_target_trace_t trace,  // events of the clock before
    output logic needed,  // 1 = the coming edge of clk changes state
    output logic busy  // 1 = a transaction is unfinished, or a further edge is needed
);
  typedef enum logic [1:0] {
    IDLE,  // no transaction claimed
    DECODE,  // address latched
    DATA,  // claimed
    TURN  // DEVSEL#, TRDY#, STOP# driven high for one clock
  } state_t;

  // ---- state ----
  state_t        state_q;
  logic          frame_q;  // FRAME# was asserted at the last edge
  logic   [31:2] addr_q;  // dword of the current data phase
  logic   [ 1:0] low_addr_q;  // AD[1:0] of the address phase
  logic   [ 3:0] cmd_q;  // bus command
  logic ask64_q, idsel_q, wide_q, reading_q, config_cycle_q, first_q, refuse_q;
  logic devsel_q, trdy_q, stop_q;  // active high copies of DEVSEL#, TRDY#, STOP#
  logic [1:0] decode_wait_q;
  logic [3:0] waited_q;  // clocks of this data phase without TRDY#
  logic [7:0] phases_q;  // data phases done

  // ---- bus as sampled ----
  pci_wires_t bus;
  assign bus = pci_in.wires;
  logic in_frame, in_irdy;
  assign in_frame = ~bus.frame_n;
  assign in_irdy  = ~bus.irdy_n;

  // ---- decoding ----
  logic [31:2] outside;
  logic is_mem, is_config, is_read, in_hole, hit, claim;
  assign is_read = ~cmd_q[0];
  if (HOLE_LOG2 == 0) begin : gen_whole
    assign in_hole = 1'b0;
  end else begin : gen_hole
    assign in_hole = ((addr_q ^ bar_base[31:2]) >> (HOLE_LOG2 - 2)) == '0;
  end
  assign outside = (addr_q ^ bar_base[31:2]) & ~((30'd1 << (bar_size_log2 - 6'd2)) - 30'd1);
  assign is_mem = cmd_q == PCI_MEM_READ || cmd_q == PCI_MEM_WRITE || cmd_q == PCI_MEM_READ_MULTIPLE
      || cmd_q == PCI_MEM_READ_LINE || cmd_q == PCI_MEM_WRITE_INV;
  assign is_config = idsel_q & low_addr_q == 2'b00 & addr_q[10:8] == 3'd0
      & (cmd_q == PCI_CONFIG_READ || cmd_q == PCI_CONFIG_WRITE);
  assign hit = is_config | (is_mem & mem_enable & ((outside == '0 & ~in_hole) ^ (OUTSIDE != 0)));
  assign claim = (state_q == DECODE) & hit & (decode_wait_q == 2'd0);

  // ---- the data phase ----
  logic step, fin, retry, c_step, w_step, r_pop, r_have, r_refuse, w_room;  // step: it moves data
  assign step = (state_q == DATA) & in_irdy & trdy_q;
  assign fin = (state_q == DATA) & in_irdy & (trdy_q | stop_q) & ~in_frame;
  assign retry = fin & first_q & ~step & devsel_q;
  assign c_step = step & config_cycle_q & cmd_q[0];
  assign w_step = step & ~reading_q & ~config_cycle_q;
  assign r_pop = step & reading_q & (wide_q | addr_q[2]);

  // Response for the next clock, unless a phase is still open (TRDY# or STOP# asserted, IRDY# not yet).
  logic now_first, now_read, now_config, now_refuse, now_wide, ready, last_phase;
  logic [3:0] waited_d, need, limit;
  logic [ 7:0] phases_d;
  logic [29:0] addr_d;
  logic go, halt;
  assign now_first = first_q & ~step;
  assign now_read = claim ? is_read & ~is_config : reading_q;
  assign now_config = claim ? is_config : config_cycle_q;
  assign now_refuse = claim ? r_refuse & is_read & ~is_config : refuse_q;
  assign now_wide = claim ? cfg_wide & ask64_q & is_mem : wide_q;
  assign waited_d = (claim || step) ? 4'd0 : waited_q;
  assign phases_d = claim ? 8'd0 : phases_q + {7'd0, step};
  assign addr_d = (claim || !step) ? addr_q : addr_q + (wide_q ? 30'd2 : 30'd1);
  assign need = (!claim && !now_first) ? {1'b0, cfg.subsequent} : now_read ? cfg.read_initial : now_config ? 4'd0
      : cfg.write_initial;
  assign limit = (now_read && (claim || now_first)) ? cfg.read_wait : {1'b0, cfg.stall_limit};
  assign ready = now_config | (now_read ? r_have : w_room);
  assign last_phase = now_config | (cfg.max_phases != 8'd0 & phases_d + 8'd1 == cfg.max_phases)
      | ((addr_d | {29'd0, now_wide} | (30'h3FFF_FFFF << (bar_size_log2 - 6'd2))) == '1);
  assign go = ready & (waited_d >= need) & ~now_refuse & ~(cfg_target_abort & ~now_config);
  assign halt = (now_refuse | (~ready & waited_d >= need & waited_d >= limit)) &
      ~(cfg_target_abort & ~now_config);

  always_ff @(posedge clk) begin
    if (rst) begin
      state_q <= IDLE;
      {frame_q, ask64_q, idsel_q, wide_q, reading_q, config_cycle_q, first_q, refuse_q, devsel_q, trdy_q, stop_q} <= '0;
      {addr_q, low_addr_q, cmd_q, decode_wait_q, waited_q, phases_q} <= '0;
    end else begin
      frame_q <= in_frame;
      if (in_frame && !frame_q && (state_q == IDLE || state_q == TURN)) begin
        state_q <= DECODE;
        addr_q <= bus.ad[31:2];
        low_addr_q <= bus.ad[1:0];
        cmd_q <= bus.cbe[3:0];
        ask64_q <= ~bus.req64_n;
        idsel_q <= pci_in.idsel;
        decode_wait_q <= (cfg.devsel == 2'd0) ? 2'd0 : cfg.devsel - 2'd1;
      end else if (state_q == DECODE) begin
        decode_wait_q <= decode_wait_q - 2'd1;
        if (!hit) state_q <= IDLE;
        else if (claim) begin
          state_q <= DATA;
          devsel_q <= 1'b1;
          reading_q <= now_read;
          config_cycle_q <= is_config;
          wide_q <= now_wide;
          refuse_q <= now_refuse;
        end
      end else if (fin) begin
        state_q <= TURN;
        {devsel_q, trdy_q, stop_q} <= '0;
      end else if (state_q == TURN) state_q <= IDLE;
      first_q <= claim | (first_q & ~step);
      if (claim || step) begin
        phases_q <= phases_d;
        addr_q   <= addr_d;
      end
      if (claim || (state_q == DATA && !fin)) begin
        if (state_q == DATA && cfg_target_abort && !config_cycle_q) begin
          devsel_q <= 1'b0;
          trdy_q   <= 1'b0;
          stop_q   <= 1'b1;
        end else if (stop_q) trdy_q <= trdy_q & ~step;
        else if (claim || step || !trdy_q) begin
          waited_q <= waited_d + 4'd1;
          trdy_q   <= go;
          stop_q   <= go ? last_phase & in_frame : halt;
        end
      end
    end
  end

  // ---- strobes ----
  logic moved_q;
  always_ff @(posedge clk) begin
    trace.first <= step & first_q & ~rst;
    trace.last <= fin & (moved_q | step) & ~rst;
    trace.write <= ~reading_q & ~config_cycle_q & ~rst;
    trace.retry <= retry & ~rst;
    trace.disconnect <= fin & stop_q & (moved_q | step) & ~rst;
    moved_q <= ~rst & (state_q == DATA) & (moved_q | step);
  end

  // ---- data ----
  logic w_busy, r_busy, w_needed, r_needed, w_pending;
  logic [63:0] r_head;
  myri_pci_target_write u_write (
      .clk,
      .rst,
      .fin,
      .tw_valid,
      .tw_ready,
      .tw,
      .wide(wide_q),
      .addr(addr_q),
      .xfer(w_step),
      .data(bus.ad),
      .be(~bus.cbe),
      .room(w_room),
      .pending(w_pending),
      .needed(w_needed),
      .busy(w_busy)
  );
  myri_pci_target_read u_read (
      .clk,
      .rst,
      .cycle,
      .bar_size_log2,
      .w_pending,
      .tread_valid,
      .tread_ready,
      .tread,
      .td_valid,
      .td_data,
      .claim(claim & is_read & is_mem & ~is_config),
      .claim_addr(addr_q),
      .claim_cmd(cmd_q),
      .more(in_frame),
      .pop(r_pop),
      .retry(retry & reading_q),
      .fin(fin & reading_q),
      .cfg_discard(cfg.discard),
      .have(r_have),
      .refuse(r_refuse),
      .head(r_head),
      .needed(r_needed),
      .busy(r_busy)
  );
  assign cs_write = c_step;
  assign cs_reg = addr_q[7:2];
  assign cs_wdata = bus.ad[31:0];
  assign cs_be = ~bus.cbe[3:0];

  logic in_data, in_turn;
  assign in_data = state_q == DATA;
  assign in_turn = state_q == TURN;
  myri_pci_target_pins u_pins (
      .clk,
      .rst,
      .bus,
      .pci_out,
      .wide(wide_q),
      .devsel(devsel_q),
      .trdy(trdy_q),
      .stop(stop_q),
      .in_data,
      .in_turn,
      .drive(in_data & ~cmd_q[0]),
      .data(config_cycle_q ? {32'd0, cs_rdata} : (~wide_q & addr_q[2]) ? {32'd0, r_head[63:32]} : r_head)
  );

  // The effects of a transaction on the bus end with its TURN.
  assign needed = (state_q != IDLE) | (frame_q != in_frame) | w_needed | r_needed;
  assign busy   = w_busy | r_busy | needed;

  logic unused;
  assign unused = &{1'b0, trace, bar_base[1:0]};
endmodule
