// Net send engine, NIC clock side: turns SMP, SML, SMLT and SA (fact sheet 3.5) into words for the link side.
//
// Writing SML or SMLT sends the bytes SMP+SA .. limit-1 (SA applies only after a write of SMP; a piece without a new
// SMP continues where the last one ended). SML: more pieces follow. SMLT: last piece, followed by CRC-8 and tail. A
// limit may be raised (SML or SMLT) during an SML piece, so that firmware can send data while a DMA is still writing
// them. Limits and pointers are byte addresses. Writing SMP during a piece, or a limit during an SMLT piece, is ignored
// and flagged by `misuse`. SMLT without an open packet and without data sends nothing. `hold_reset` ends a packet in
// progress by a tail with a wrong CRC.
// Timing: request one clock after the write, word passed on one clock after the grant, one word per clock. set_send
// strobes in the clock in which the last word (and tail) is passed on.
module myri_net_send
  import myri_nic_engines_pkg::*;
  import myri_nic_trace_pkg::*;
  import myri_sram_pkg::*;
#(
    parameter int WIDTH = 64  // bits of a word of SRAM, 32 or 64
) (
    input logic clk,  // NIC clock
    input logic rst,  // synchronous reset
    input logic [47:0] cycle,  // index of the coming edge
    input logic hold_reset,  // LANai in reset: stop, close an open packet
    input logic crc_enable,  // append CRC-8 (MYRINET bit 2)
    input logic w_smp,  // register write strobes
    input logic w_sml,  // write of SML
    input logic w_smlt,  // write of SMLT
    input logic w_sa,  // write of SA
    input logic [23:0] w_data,  // value written
    output logic [23:0] smp,  // read value of SMP: next byte to send
    output logic [23:0] limit,  // read value of SML and SMLT
    output logic [2:0] sa,  // read value of SA
    output logic started,  // strobe: a limit was taken (clears SEND)
    output logic set_send,  // strobe: limit reached, all passed on (sets SEND)
    output logic misuse,  // strobe: a write was ignored
    output sram_request_t sram,  // SRAM request, reads only
    input logic sram_gnt,  // grant
    input sram_read_t sram_read,  // read data
    output logic out_valid,  // entry for the link side
    input logic out_ready,  // accepted at the coming edge
    output send_head_t out_head,  // entry for myri_packet_tx
    output logic [WIDTH-1:0] out_data,  // its word
    output send_trace_t trace,  // events of this clock
    output logic in_flight,  // a packet is unfinished or a piece is being sent
    output logic busy  // 1 = a further clock edge is needed
);
  localparam int LANE = $clog2(WIDTH / 8);

  logic             active_q;  // a piece is being sent
  logic             kind_tail_q;  // it is the packet's last piece (SMLT)
  logic             fresh_q;  // SMP was written: SA counts
  logic             open_q;  // bytes were sent but their tail was not
  logic             held_q;  // a word waits in `word_q` for out_ready
  logic [WIDTH-1:0] word_q;
  logic [      2:0] word_first_q;
  logic [      3:0] word_last_q;
  logic             word_tail_q;
  logic [     23:0] word_end;  // address after the word at smp
  logic             last_word;
  logic             quiet;  // no word is between SRAM and the link side
  logic             finished;
  logic             take_limit;
  logic             close;  // a tail without data is due
  logic             pushed;
  logic [     23:0] begin_at;  // address of the first byte of a piece that a limit starts
  logic [     31:0] bytes_q;
  logic [     31:0] bytes_d;
  logic [     47:0] start_q;
  logic [     23:0] start_at_q;  // SRAM address of the packet's first byte
  logic [     31:0] key;
  logic             known;
  logic             next_known;

  assign word_end = {smp[23:LANE] + 1'b1, LANE'(0)};
  assign last_word = word_end >= limit;
  assign quiet = !sram_read.valid && !held_q;
  assign close = quiet && open_q && (hold_reset || (active_q && kind_tail_q && smp >= limit));
  assign finished = active_q && smp >= limit && quiet && !(kind_tail_q && open_q);
  assign take_limit = (w_sml || w_smlt) && !hold_reset && (!active_q || finished || !kind_tail_q);
  assign misuse = !hold_reset && active_q && !finished && (w_smp || ((w_sml || w_smlt) && kind_tail_q));
  assign started = take_limit;
  assign begin_at = fresh_q ? smp + {21'd0, sa} : smp;
  assign set_send = finished && !take_limit && !hold_reset;

  assign sram.req = active_q && !hold_reset && smp < limit && !held_q && !(sram_read.valid && !out_ready);
  assign sram.addr = {smp[22:LANE], LANE'(0)};
  assign {sram.write, sram.be, sram.wdata} = '0;
  assign out_valid = !quiet || close;
  assign out_head = {
    crc_enable,
    quiet && hold_reset,
    quiet || word_tail_q,
    quiet ? 7'd0 : {word_first_q, word_last_q}
  };
  assign out_data = held_q ? word_q : sram_read.data[WIDTH-1:0];
  assign pushed = out_valid && out_ready;
  assign in_flight = active_q || open_q || !quiet;
  assign busy = w_smp || w_sml || w_smlt || w_sa || sram.req || sram_read.valid || pushed || finished ||
      (active_q && hold_reset);

  always_ff @(posedge clk) begin
    if (rst) begin
      active_q <= 1'b0;
      kind_tail_q <= 1'b0;
      fresh_q <= 1'b0;
      open_q <= 1'b0;
      held_q <= 1'b0;
      smp <= 24'd0;
      limit <= 24'd0;
      sa <= 3'd0;
      word_q <= '0;
      word_first_q <= 3'd0;
      word_last_q <= 4'd0;
      word_tail_q <= 1'b0;
    end else begin
      if (w_sa) sa <= w_data[2:0];
      if (sram_read.valid && !out_ready) word_q <= sram_read.data[WIDTH-1:0];
      held_q <= !out_ready && !quiet;
      if (sram_gnt) begin
        word_first_q <= 3'(smp[LANE-1:0]);
        word_last_q <= (last_word && limit[LANE-1:0] != '0) ? 4'(limit[LANE-1:0]) : 4'(WIDTH / 8);
        word_tail_q <= last_word && kind_tail_q;
        open_q <= !(last_word && kind_tail_q);
        smp <= last_word ? limit : word_end;
      end else if (pushed && quiet) begin
        open_q <= 1'b0;
      end
      if (finished || hold_reset) active_q <= 1'b0;
      if (w_smp && !misuse) begin
        smp <= w_data;
        fresh_q <= 1'b1;
      end
      if (take_limit) begin
        active_q <= 1'b1;
        limit <= w_data;
        kind_tail_q <= w_smlt;
        if ((!active_q || finished) && fresh_q) begin
          smp <= begin_at;
          fresh_q <= 1'b0;
        end
      end
    end
  end

  // Trace.
  assign trace.tx_start = pushed && next_known && !known;
  assign trace.tx_start_ago = 32'(cycle - start_q);
  assign trace.tx_start_at = start_at_q;
  assign trace.tx_start_key = key;
  assign trace.tx_read = pushed && out_head.tail;
  assign trace.tx_read_key = key;
  assign trace.tx_read_bytes = bytes_d;
  assign bytes_d = bytes_q + {28'd0, out_head.last} - {29'd0, out_head.first};

  always_ff @(posedge clk) begin
    if (rst) begin
      bytes_q <= 32'd0;
      start_q <= 48'd0;
      start_at_q <= 24'd0;
    end else begin
      if (pushed) bytes_q <= out_head.tail ? 32'd0 : bytes_d;
      if (take_limit && !open_q && (!active_q || finished)) begin
        start_q <= cycle;
        start_at_q <= begin_at;
      end
    end
  end

  myri_packet_key u_key (
      .clk,
      .rst,
      .known,
      .next_known,
      .take(pushed),
      .tail(out_head.tail),
      .first(out_head.first),
      .last(out_head.last),
      .data(64'(out_data)),
      .next_key(key)
  );
endmodule
