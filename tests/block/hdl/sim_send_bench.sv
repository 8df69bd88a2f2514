// Send path from NIC side to packet stream, with its crossing and a memory, for the net_send bench.
module sim_send_bench
  import myri_sleep_pkg::*;
  import myri_nic_engines_pkg::*;
  import myri_nic_trace_pkg::*;
  import myri_sram_pkg::*;
#(
    parameter int WIDTH = 64  // bits of a word of SRAM, 32 or 64
) (
    input  logic        clk,           // NIC clock, free-running
    input  logic        rst,           // reset, also of the link side
    input  logic        link_clk,      // link clock, free-running
    input  logic        sleep,         // 1 = skip unneeded clock edges
    output logic [47:0] cycle,         // index of the NIC edge
    output logic [31:0] edges,         // edges the NIC side had
    output logic [31:0] link_edges,    // edges the link side had
    output logic [47:0] link_cycle,    // index of the link edge
    input  logic        allow,         // the memory grants
    input  logic [ 3:0] cfg_latency,   // latency of the crossing
    input  logic        hold_reset,    // LANai in reset: stop, close an open packet
    input  logic        crc_enable,    // append CRC-8 (MYRINET bit 2)
    input  logic        w_smp,         // register write strobes
    input  logic        w_sml,         // write of SML
    input  logic        w_smlt,        // write of SMLT
    input  logic        w_sa,          // write of SA
    input  logic [23:0] w_data,        // value written
    output logic [23:0] smp,           // read value of SMP: next byte to send
    output logic [23:0] limit,         // read value of SML and SMLT
    output logic [ 2:0] sa,            // read value of SA
    output logic        started,       // strobe: a limit was taken (clears SEND)
    output logic        set_send,      // strobe: limit reached, all passed on (sets SEND)
    output logic        misuse,        // strobe: a write was ignored
    output logic        tr_start,      // trace: packet started tr_start_ago edges ago
    output logic [31:0] tr_start_ago,  // see tr_start
    output logic [23:0] tr_start_at,   // with tr_start: SRAM address of its first byte
    output logic        tr_read,       // trace: last byte passed to the link side
    output logic [31:0] tr_bytes,      // bytes of the packet, route included, with tr_read
    output logic        in_flight,     // a packet is unfinished or a piece is being sent
    output logic        busy,          // 1 = a further clock edge is needed
    output logic [31:0] tr_read_key,   // key on the NIC side
    output logic        s_valid,       // packet stream: beat offered
    input  logic        s_ready,       // accepted
    output logic        s_tail,        // 1 = GAP beat
    output logic [ 7:0] s_data,        // byte
    output logic        tr_head,       // trace: first byte left tr_ago edges ago
    output logic        tr_tail,       // trace: GAP left at this edge
    output logic [31:0] tr_key,        // packet key, with tr_head and from then to tr_tail
    output logic [31:0] tr_ago,        // with tr_head
    output logic        in_packet,     // between first byte and GAP
    output logic        link_busy      // link side needs an edge
);
  sram_request_t sram;
  logic sram_gnt;
  sram_read_t sram_read;
  logic out_valid, out_ready, in_valid, in_ready, send_busy, tx_busy, w_busy, r_busy;
  send_head_t out_head, in_head;
  logic [WIDTH-1:0] out_data, in_data;
  send_trace_t trace;
  assign {tr_start, tr_start_ago, tr_start_at} = {
    trace.tx_start, trace.tx_start_ago, trace.tx_start_at
  };
  assign {tr_read, tr_read_key, tr_bytes} = {trace.tx_read, trace.tx_read_key, trace.tx_read_bytes};
  logic unused_ok;
  assign unused_ok = ^trace;
  assign busy = send_busy || w_busy;
  assign link_busy = tx_busy || r_busy;

  logic run_clk;
  sim_gate u_gate (
      .*,
      .alarm(myri_sleep_pkg::NO_ALARM),
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
      .clk(run_clk)
  );

  myri_net_send #(
      .WIDTH(WIDTH)
  ) u_send (
      .*,
      .clk (run_clk),
      .busy(send_busy)
  );

  myri_cdc_fifo #(
      .WIDTH($bits(send_head_t) + WIDTH)
  ) u_cross (
      .cfg_latency(cfg_latency),
      .w_clk(run_clk),
      .w_rst(rst),
      .w_valid(out_valid),
      .w_ready(out_ready),
      .w_data({out_head, out_data}),
      .w_busy(w_busy),
      .r_clk(run_link_clk),
      .r_rst(rst),
      .r_valid(in_valid),
      .r_ready(in_ready),
      .r_data({in_head, in_data}),
      .r_busy(r_busy)
  );

  tx_trace_t link_trace;
  assign {tr_head, tr_tail, tr_key, tr_ago} = link_trace;
  myri_packet_tx #(
      .WIDTH(WIDTH)
  ) u_tx (
      .*,
      .trace(link_trace),
      .clk  (run_link_clk),
      .cycle(link_cycle),
      .busy (tx_busy)
  );
endmodule
