// Net receive engine, NIC clock side: stores words from the link side in SRAM by RMP and RML.
//
// Writing RML arms the engine; words are stored at RMP, one after the other, while RMP < RML. HEAD: the first word is
// stored. A word that finds RMP >= RML raises BUFF and waits, with the packet held in the link, until RML is written
// again. The tail stores the CRC-8 syndrome in place of the CRC character, sets ORUN = unused bytes of the last word,
// raises RECV and disarms. Bytes stored = RMP - buffer - ORUN, also kept in `length` over all buffers of the packet.
// While not armed, the packet waits. A packet that waits for a buffer longer than the network time-out raises NRES.
// Then either the packet is truncated to its tail (cfg_nres_truncate), or the receiver is reset: all input is absorbed
// until RML is written. All input is absorbed in hold_reset, too. Each packet lost in this way strobes `lost`.
// Timing: one word per clock, requested in the clock of the entry, accepted with the grant.
module myri_net_recv
  import myri_sleep_pkg::*;
  import myri_nic_engines_pkg::*;
  import myri_nic_trace_pkg::*;
  import myri_sram_pkg::*;
#(
    parameter int WIDTH = 64  // bits of a word of SRAM, 32 or 64
) (
    input logic clk,  // NIC clock
    input logic rst,  // synchronous reset
    input logic [47:0] cycle,  // index of the coming edge
    input logic hold_reset,  // LANai in reset: absorb and ignore
    input logic crc_enable,  // replace the CRC character by the syndrome (MYRINET bit 3)
    input logic nres_enable,  // network time-out runs (MYRINET bit 0)
    input logic [1:0] nres_code,  // its code (MYRINET bits 7:6)
    input  logic [31:0] cfg_nres_clocks,    // clocks of code 0 (1/16 s); each code is four times longer
    input logic cfg_nres_truncate,  // on time-out: 1 = truncate the packet, 0 = reset the receiver
    input logic w_rmp,  // write of RMP (the bits within a word are ignored)
    input logic w_rml,  // write of RML
    input logic [23:0] w_data,  // value written
    output logic [23:0] rmp,  // read value of RMP
    output logic [23:0] rml,  // read value of RML
    output logic [31:0] length,  // bytes of the packet stored, syndrome byte included
    output logic [2:0] orun,  // unused bytes of its last word, with set_recv
    output logic set_head,  // strobes for ISR
    output logic set_recv,  // tail stored
    output logic set_buff,  // no room for the next word
    output logic set_nres,  // network time-out
    output logic truncated,  // strobe: a packet was cut after its first bytes were stored
    output logic receiver_reset,  // strobe: the receiver was reset by the time-out
    output logic lost,  // strobe: a packet was dropped or cut
    output sram_request_t sram,  // SRAM request, writes only
    input logic sram_gnt,  // grant
    input logic in_valid,  // entry from the link side
    output logic in_ready,  // accepted
    input recv_head_t in_head,  // entry of myri_packet_rx
    input logic [WIDTH-1:0] in_data,  // its word
    output recv_trace_t trace,  // events of this clock
    output alarm_t alarm,  // alarm of the time-out
    output logic busy  // 1 = a further clock edge is needed
);
  localparam int BYTES = WIDTH / 8;

  logic armed_q;
  logic begun_q;  // the packet's first entry has been processed
  logic stored_q;  // bytes of the packet are in SRAM
  logic drop_q;  // the rest of the packet is dropped
  logic absorb_q;  // after a receiver reset, until RML is written
  logic waiting_q;  // a packet waits for a buffer since `since_q`
  logic [47:0] since_q;
  logic [22:0] last_addr_q;  // word stored last
  logic tail;
  logic [3:0] count;
  logic [7:0] syndrome;
  logic [WIDTH-1:0] data;
  logic [WIDTH-1:0] lanes;  // byte lanes as stored
  logic dropping;
  logic room;
  logic fix_up;  // tail without bytes: only the syndrome is written into the last byte stored
  logic blocked;
  logic expired;
  logic taken;
  logic store_taken;
  logic armed_d;
  logic [31:0] length_d;
  logic [31:0] key;
  logic resets;  // the reset has not reached all sides yet

  assign {tail, count, syndrome, data} = in_valid ? {in_head, in_data} : '0;
  assign dropping = hold_reset || drop_q || (!begun_q && (absorb_q || fix_up));
  assign room = rmp < rml;
  assign fix_up = tail && count == 4'd0;
  assign blocked = in_valid && !dropping && !armed_q;

  // Data path.
  assign sram.req = in_valid && !dropping && armed_q && (fix_up ? crc_enable : room);
  assign sram.addr = fix_up ? last_addr_q : rmp[22:0];
  assign sram.write = 1'b1;
  assign sram.be = fix_up ? 8'h01 << (BYTES - 1) : ~(8'hFF << count) & 8'({BYTES{1'b1}});
  assign sram.wdata = 64'(lanes);
  for (genvar i = 0; i < BYTES; i++) begin : gen_lane
    assign lanes[8*i+:8] = crc_enable && tail && (fix_up ? i == BYTES - 1 : count == 4'(i + 1)) ?
        syndrome : data[8*i+:8];
  end
  assign store_taken = in_valid && !dropping && armed_q && (sram.req ? sram_gnt : fix_up);
  assign in_ready = dropping || store_taken;
  assign taken = in_valid && in_ready;

  // Events.
  assign set_head = store_taken && !stored_q && !fix_up;
  assign set_recv = (store_taken && tail) || truncated;
  assign set_buff = in_valid && !dropping && armed_q && !fix_up && !room;
  assign expired = waiting_q && nres_enable && cycle >= alarm.cycle;
  assign set_nres = expired;
  assign truncated = expired && cfg_nres_truncate && stored_q;
  assign receiver_reset = expired && !cfg_nres_truncate;
  assign lost = taken && dropping && tail && (begun_q || !fix_up);
  assign alarm.valid = waiting_q && nres_enable;
  assign alarm.cycle = since_q + ({16'd0, cfg_nres_clocks} << {nres_code, 1'b0});
  assign orun = truncated ? 3'd0 : (3'd0 - count[2:0]) & 3'(BYTES - 1);
  assign length_d = (stored_q ? length : 32'd0) + {28'd0, count};
  assign trace.rx_first = set_head;
  assign trace.rx_first_key = key;
  assign trace.rx_first_at = rmp;
  assign trace.rx_done = set_recv;
  assign trace.rx_done_key = key;
  assign trace.rx_done_bytes = length_d;
  assign trace.rx_done_syndrome = syndrome;
  assign resets = hold_reset && (armed_q || absorb_q || stored_q || drop_q != begun_q);
  assign busy = w_rmp || w_rml || taken || sram.req || set_buff || expired || resets || (waiting_q != blocked);

  // Key of the packet at the input, including dropped packets.
  logic key_known, key_next_known, unused_ok;
  assign unused_ok = key_known ^ key_next_known;
  myri_packet_key u_key (
      .clk(clk),
      .rst(rst),
      .take(taken),
      .tail(tail),
      .first(3'd0),
      .last(count),
      .data(64'(data)),
      .known(key_known),
      .next_known(key_next_known),
      .next_key(key)
  );

  always_comb begin
    armed_d = armed_q;
    if (set_recv || set_buff || receiver_reset || hold_reset) armed_d = 1'b0;
    if (w_rml && !hold_reset) armed_d = 1'b1;
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      armed_q <= 1'b0;
      begun_q <= 1'b0;
      stored_q <= 1'b0;
      drop_q <= 1'b0;
      absorb_q <= 1'b0;
      waiting_q <= 1'b0;
      since_q <= 48'd0;
      rmp <= 24'd0;
      rml <= 24'd0;
      length <= 32'd0;
      last_addr_q <= 23'd0;
    end else begin
      armed_q   <= armed_d;
      waiting_q <= blocked && !expired;
      if (blocked && !waiting_q) since_q <= cycle;
      if (taken) begun_q <= !tail;
      if (store_taken && !fix_up) begin
        stored_q <= !tail;
        last_addr_q <= rmp[22:0];
        length <= length_d;
        rmp <= rmp + 24'(BYTES);
      end else if (store_taken || truncated || receiver_reset || dropping) begin
        stored_q <= 1'b0;
      end
      if (taken && tail) drop_q <= 1'b0;
      else if (expired || hold_reset) drop_q <= begun_q || in_valid;
      else if (taken && dropping) drop_q <= 1'b1;
      if (w_rml || hold_reset) absorb_q <= 1'b0;
      else if (receiver_reset) absorb_q <= 1'b1;
      if (receiver_reset) begin
        rmp <= 24'd0;
        rml <= 24'd0;
      end
      if (w_rmp) rmp <= w_data & ~24'(BYTES - 1);
      if (w_rml) rml <= w_data;
    end
  end
endmodule
