// The FIFO card on a PCI segment, for its bench, which is host CPU, host memory and the other end of the link.
module sim_fifo_bench
  import myri_sleep_pkg::*;
  import myri_nic_trace_pkg::*;
  import myri_pci_pkg::*;
  import myri_settings_pkg::*;
  import myri_sram_pkg::*;
(
    input logic clk,  // NIC clock, free-running
    input logic link_clk,  // link clock, free-running
    input logic pci_clk,  // PCI clock, free-running
    input logic rst,  // reset of all three
    input logic sleep,  // skip edges that nobody needs
    output logic [47:0] cycle,  // index of the NIC edge
    output logic [47:0] link_cycle,  // index of the link edge
    output logic [47:0] pci_cycle,  // index of the PCI edge
    output logic [31:0] edges,  // edges the NIC clock had
    output logic [31:0] link_edges,  // edges the link clock had
    output logic [31:0] pci_edges,  // edges the PCI clock had
    output logic asleep,  // no clock is needed
    input logic [3:0] cfg_cdc_latency,  // of every crossing
    input logic [8:0] rx,  // link: characters to the card, 0 = idle
    output logic [8:0] tx,  // link: characters from it
    input logic cfg_wide,  // 64-bit bus
    output logic intr_line,  // level: interrupt request, before it crosses to INTA#
    output logic [4:0] tr_clk,  // strobes of clk, as below: pio_write, rx_done, rx_first, tx_read, tx_start
    output logic [3:0] tr_link,  // strobes of link_clk, as below: rx_tail, rx_head, tx_tail, tx_head
    output logic tr_tx_start,  // clk: a packet was started ...
    output logic [31:0] tr_tx_start_ago,  // ... so many edges ago
    output logic [31:0] tr_tx_start_key,  // packet key
    output logic tr_tx_read,  // clk: its last byte went to the link side
    output logic [31:0] tr_tx_read_key,  // packet key
    output logic [31:0] tr_tx_read_bytes,  // its bytes, route included
    output logic tr_rx_first,  // clk: the first word of a packet is stored (HEAD)
    output logic [31:0] tr_rx_first_key,  // packet key
    output logic tr_rx_done,  // clk: its tail is stored (RECV)
    output logic [31:0] tr_rx_done_key,  // packet key
    output logic [31:0] tr_rx_done_bytes,  // bytes stored, syndrome included
    output logic [7:0] tr_rx_done_syndrome,  // CRC-8 syndrome, 0 = good
    output logic tr_pio_write,  // clk: a write of the host has landed ...
    output logic [23:0] tr_pio_addr,  // ... at this offset of the card's region
    output logic tr_tx_head,  // link_clk: first byte of a packet went out tr_tx_ago edges ago
    output logic tr_tx_tail,  // link_clk: its GAP went out
    output logic [31:0] tr_tx_key,  // packet key, with both
    output logic [31:0] tr_tx_ago,  // with tr_tx_head
    output logic tr_rx_head,  // link_clk: first byte of a packet came tr_rx_ago edges ago
    output logic tr_rx_tail,  // link_clk: its GAP came
    output logic [31:0] tr_rx_key,  // packet key, with both
    output logic [31:0] tr_rx_ago,  // with tr_rx_head
    output logic [31:0] tr_rx_bytes,  // with tr_rx_tail: bytes, CRC character included
    output logic [7:0] tr_rx_syndrome,  // with tr_rx_tail: CRC-8 syndrome
    output logic st_rx_overrun,  // link_clk: strobe: slack overflow, a character was lost
    output logic st_crc_bad,  // link_clk: strobe, with tr_rx_tail
    output logic st_illegal,  // link_clk: strobe: unknown control character
    output logic st_forward_reset,  // link_clk: strobe: the packet sent was cut
    output logic st_link_stopped,  // link_clk: level: STOP of the peer in force
    output logic st_link_stopping,  // link_clk: level: our STOP in force
    output logic st_beat_missed,  // link_clk: level: the last BEAT due did not come
    output logic st_link_down,  // link_clk: level: three BEATs in a row did not come
    output logic [7:0] st_fill,  // link_clk: slack fill
    output logic st_host_misuse,  // clk: what the host did was refused
    output logic st_cell_refused,  // clk: a cell was refused
    output logic st_in_flight,  // clk: send or DMA has something open
    output logic st_link_in_flight,  // link_clk: a packet is half sent or half received
    input logic cpu_valid,  // CPU access
    output logic cpu_ready,  // taken
    input logic cpu_write,  // 1 = store
    input logic [31:0] cpu_addr,  // 8-byte aligned
    input logic [63:0] cpu_data,  // store data in lanes
    input logic [7:0] cpu_be,  // bytes, side by side
    input logic cpu_wc,  // write-combining memory
    input logic cpu_fence,  // wait until combined stores are posted
    input logic cpu_config,  // configuration cycle (type 0, address as on AD)
    output logic cpu_rvalid,  // read data, strobe
    output logic [63:0] cpu_rdata,  // lanes
    output logic mem_valid,  // host memory access
    output logic mem_write,  // 1 = write
    output logic [31:0] mem_addr,  // 8-byte aligned
    output logic [63:0] mem_wdata,  // lanes
    output logic [7:0] mem_be,  // bytes written
    input logic [63:0] mem_rdata,  // valid in the clock after a read
    output logic intr,  // INTA# of any agent, level (combinational)
    output logic idle_out,  // every store of the CPU is done on the bus
    output logic idle_in,  // every DMA write is in memory
    output logic [63:0] pci_ad,  // AD
    output logic [7:0] pci_cbe,  // C/BE#
    output logic pci_par,  // PAR
    output logic pci_par64,  // PAR64
    output logic pci_frame_n,  // FRAME#
    output logic pci_irdy_n,  // IRDY#
    output logic pci_trdy_n,  // TRDY#
    output logic pci_devsel_n,  // DEVSEL#
    output logic pci_stop_n,  // STOP#
    output logic pci_req64_n,  // REQ64#
    output logic pci_ack64_n,  // ACK64#
    output logic [1:0] pci_req_n,  // requests
    output logic [1:0] pci_gnt_n,  // grants
    output logic pci_conflict  // two drivers on one wire
);
  logic run_clk, run_link_clk, run_pci_clk;
  logic busy, link_busy, cable_busy, pci_busy, segment_busy;
  alarm_t   link_alarm;
  pci_in_t  pci_in;
  pci_out_t pci_out;
  logic tx_hold, unused_ok;
  sram_request_t mem_a, mem_b;
  logic [63:0] mem_a_rdata, mem_b_rdata;

  assign cable_busy = rx != 9'd0;
  assign unused_ok = tx_hold;

  assign tr_clk = {tr_pio_write, tr_rx_done, tr_rx_first, tr_tx_read, tr_tx_start};
  assign tr_link = {tr_rx_tail, tr_rx_head, tr_tx_tail, tr_tx_head};

  send_trace_t send_trace;
  recv_trace_t recv_trace;
  link_trace_t link_trace;
  pio_trace_t  pio_trace;
  assign {tr_tx_start, tr_tx_start_ago, tr_tx_start_key, tr_tx_read, tr_tx_read_key, tr_tx_read_bytes} = send_trace;
  assign {
    tr_rx_first,
    tr_rx_first_key,
    tr_rx_done,
    tr_rx_done_key,
    tr_rx_done_bytes,
    tr_rx_done_syndrome
  } = recv_trace;
  assign {
    tr_tx_head,
    tr_tx_tail,
    tr_tx_key,
    tr_tx_ago,
    tr_rx_head,
    tr_rx_tail,
    tr_rx_key,
    tr_rx_ago,
    tr_rx_bytes,
    tr_rx_syndrome,
    st_rx_overrun,
    st_crc_bad,
    st_illegal,
    st_forward_reset,
    st_link_stopped,
    st_link_stopping,
    st_beat_missed,
    st_link_down,
    st_fill
  } = link_trace;
  assign tr_pio_write = pio_trace.pio_write;
  assign tr_pio_addr = pio_trace.pio_addr;
  nic_settings_t cfg;
  sim_nic_fixed u_fixed (
      .*,
      .cfg_accesses(2'd2),
      .cfg_start_clocks(16'd0),
      .cfg_nres_clocks(32'd0)
  );
  sim_nic_gates u_gates (
      .*,
      .alarm(myri_sleep_pkg::NO_ALARM)
  );

  myri_fifo_card u_card (
      .*,
      .clk(run_clk),
      .link_clk(run_link_clk),
      .link_rst(rst),
      .pci_clk(run_pci_clk),
      .pci_gated_clk({PCI_SIDES{run_pci_clk}}),
      .pci_gated_needed(),
      .pci_rst(rst),
      .rx_hold(1'b0)
  );

  myri_sram_stub #(
      .SIZE_LOG2(18)
  ) u_sram (
      .*,
      .clk(run_clk)
  );

  sim_bench_segment u_segment (
      .*,
      .clk(run_pci_clk),
      .cycle(pci_cycle),
      .slot_in(pci_in),
      .slot_out(pci_out),
      .cfg_mem_log2(6'd16)
  );
endmodule
