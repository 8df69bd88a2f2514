// Receive path from packet stream to memory, with its crossing, for the net_recv bench.
module sim_recv_bench
  import myri_sleep_pkg::*;
  import myri_nic_engines_pkg::*;
  import myri_nic_trace_pkg::*;
  import myri_sram_pkg::*;
#(
    parameter int WIDTH = 64  // bits of a word of SRAM, 32 or 64
) (
    input logic clk,  // NIC clock, free-running
    input logic rst,  // reset, also of the link side
    input logic link_clk,  // link clock, free-running
    input logic sleep,  // 1 = skip unneeded clock edges
    output logic [47:0] cycle,  // index of the NIC edge
    output logic [31:0] edges,  // edges the NIC side had
    output logic [31:0] link_edges,  // edges the link side had
    output logic [47:0] link_cycle,  // index of the link edge
    input logic allow,  // the memory grants
    input logic [3:0] cfg_latency,  // latency of the crossing
    input logic hold_reset,  // LANai in reset: absorb and ignore
    input logic crc_enable,  // replace the CRC character by the syndrome (MYRINET bit 3)
    input logic nres_enable,  // network time-out runs (MYRINET bit 0)
    input logic [1:0] nres_code,  // its code (MYRINET bits 7:6)
    input  logic [31:0] cfg_nres_clocks,   // clocks of code 0 (1/16 s); each code is four times longer
    input logic cfg_nres_truncate,  // on time-out: 1 = truncate the packet, 0 = reset the receiver
    input logic w_rmp,  // write of RMP (low three bits are ignored)
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
    output logic [7:0] tr_syndrome,  // with set_recv
    output logic [31:0] tr_length,  // with set_recv: final value of length
    output alarm_t alarm,  // alarm of the time-out
    output logic busy,  // 1 = a further clock edge is needed
    output logic [31:0] tr_done_key,  // key on the NIC side
    input logic m_valid,  // packet stream: beat offered
    output logic m_ready,  // accepted
    input logic m_tail,  // GAP beat
    input logic [7:0] m_data,  // byte
    output logic tr_head,  // trace: first byte arrived tr_ago edges ago
    output logic tr_tail,  // trace: GAP received at this edge
    output logic [31:0] tr_key,  // packet key, with tr_head and tr_tail
    output logic [31:0] tr_ago,  // with tr_head
    output logic [31:0] tr_bytes,  // bytes with the CRC character, with tr_tail
    output logic crc_bad,  // strobe: a packet ended with a wrong CRC-8
    output logic in_packet,  // between first byte and GAP
    output logic [7:0] link_syndrome,  // syndrome on the link side
    output logic link_busy  // link side needs an edge
);
  sram_request_t sram;
  logic sram_gnt;
  logic out_valid, out_ready, in_valid, in_ready, recv_busy, rx_busy, w_busy, r_busy;
  recv_head_t out_head, in_head;
  logic [WIDTH-1:0] out_data, in_data;
  recv_trace_t trace;
  assign {tr_done_key, tr_syndrome} = {trace.rx_done_key, trace.rx_done_syndrome};
  assign tr_length = trace.rx_done_bytes;
  logic unused_ok;
  assign unused_ok = ^trace;
  assign busy = recv_busy || r_busy;
  assign link_busy = rx_busy || w_busy;

  logic run_clk;
  sim_gate u_gate (
      .*,
      .gated(run_clk)
  );

  logic run_link_clk;
  sim_gate u_link_gate (
      .clk  (link_clk),
      .rst  (rst),
      .sleep(sleep),
      .busy (link_busy),
      .alarm(myri_sleep_pkg::NO_ALARM),
      .gated(run_link_clk),
      .cycle(link_cycle),
      .edges(link_edges)
  );

  sim_sram #(
      .SIZE_LOG2(13),
      .WIDTH(WIDTH)
  ) u_memory (
      .*,
      .sram_read(),
      .clk(run_clk)
  );

  rx_trace_t link_trace;
  assign {tr_head, tr_tail, tr_key, tr_ago, tr_bytes, link_syndrome} = link_trace;
  myri_packet_rx #(
      .WIDTH(WIDTH)
  ) u_rx (
      .*,
      .clk  (run_link_clk),
      .cycle(link_cycle),
      .trace(link_trace),
      .busy (rx_busy)
  );

  myri_cdc_fifo #(
      .WIDTH($bits(recv_head_t) + WIDTH)
  ) u_cross (
      .cfg_latency(cfg_latency),
      .w_clk(run_link_clk),
      .w_rst(rst),
      .w_valid(out_valid),
      .w_ready(out_ready),
      .w_data({out_head, out_data}),
      .w_busy(w_busy),
      .r_clk(run_clk),
      .r_rst(rst),
      .r_valid(in_valid),
      .r_ready(in_ready),
      .r_data({in_head, in_data}),
      .r_busy(r_busy)
  );

  myri_net_recv #(
      .WIDTH(WIDTH)
  ) u_recv (
      .*,
      .clk (run_clk),
      .busy(recv_busy)
  );
endmodule
