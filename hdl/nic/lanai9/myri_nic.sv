// Myrinet NIC of the LANai 9 / PCI64 kind: SRAM arbiter, special registers, packet interface, host DMA, doorbells, PCI.
// The SRAM itself and the processor are external (ports mem_*, cpu_*).
//
// Three clocks meet only in crossings: the NIC clock, used by the engines only (below `clk`), `link_clk`, and
// `pci_clk`; each is gated separately. `sleep` does not count SRAM requests of the processor. An alarm that is not in
// the future requests the next edge.
// Timing: see the parts. Trace: `_key` is the packet key (first four bytes after the route, big-endian), `_ago` the
// number of edges since the event, 0 = this edge.
module myri_nic
  import myri_sleep_pkg::*;
  import myri_nic_trace_pkg::*;
  import myri_lanai9_pkg::*;
  import myri_nic_engines_pkg::*;
  import myri_pci_pkg::*;
  import myri_settings_pkg::*;
  import myri_sram_pkg::*;
#(
    parameter int SLACK_LOG2 = 7,  // slack memory of the link port = 2**SLACK_LOG2 characters
    parameter int FIFO_LOG2  = 4   // entries of a data crossing = 2**FIFO_LOG2
) (
    input logic [ENGINES-1:0] nic_gated_clk,  // NIC clock of each engine, gated
    input logic rst,  // synchronous reset
    input logic [47:0] cycle,  // index of the coming edge
    output logic [ENGINES-1:0] nic_gated_needed,  // clock enables of these clocks
    output sleep_t sleep,  // when the NIC clock must run, apart from the processor's SRAM requests
    input logic link_clk,  // character clock
    input logic [HALVES-1:0] link_gated_clk,  // link_clk of its halves, gated
    input logic link_rst,  // synchronous reset
    input logic [47:0] link_cycle,  // index of the coming edge
    output logic [HALVES-1:0] link_gated_needed,  // clock enables of these clocks
    output sleep_t link_sleep,  // when link_clk must run
    input logic pci_clk,  // PCI clock
    input logic [PCI_SIDES-1:0] pci_gated_clk,  // clocks of its sides, gated
    input logic pci_rst,  // synchronous reset
    input logic [47:0] pci_cycle,  // index of the coming edge
    output logic [PCI_SIDES-1:0] pci_gated_needed,  // clock enables of these clocks
    output logic pci_busy,  // PCI clock: 1 = a further edge is needed
    input logic [8:0] rx,  // {data flag, byte} from the cable
    output logic [8:0] tx,  // {data flag, byte} to the cable
    input logic stop_lasts,  // see myri_link_port
    input pci_in_t pci_in,  // resolved wires of the slot
    output pci_out_t pci_out,  // drives and enables
    output sram_request_t mem_a,  // memory port a
    input logic [63:0] mem_a_rdata,  // read data, one clock later
    output sram_request_t mem_b,  // memory port b
    input logic [63:0] mem_b_rdata,  // read data, one clock later
    input reg_request_t cpu_reg,  // special registers: access of the processor
    output logic [31:0] cpu_reg_rdata,  // read data, same clock
    input sram_request_t cpu_sram,  // SRAM: processor
    output logic cpu_gnt,  // grant
    output logic cpu_free,  // a request would be granted in this clock
    output sram_read_t cpu_read,  // read data
    output logic [31:0] isr,  // ISR
    output logic [31:0] isr_set,  // bits set by hardware at the last edge
    output logic lanai_reset,  // level: the host holds the LANai in reset
    output logic intr_line,  // level: interrupt request, before it crosses to INTA#
    input nic_settings_t cfg,  // configuration of the NIC
    output nic_trace_t trace  // events of every clock
);
  // Registers.
  logic [31:0] w_data, set_isr, set_errors, myrinet;
  logic w_rmp, w_rml, w_smp, w_sml, w_smlt, w_sa, host_reg_ready;
  logic [3:0] reg_pulse, reg_w_list, w_consumer;
  logic [31:0] host_reg_rdata;
  logic [23:0] rmp, rml, smp, send_limit;
  logic [2:0] sa, recv_orun;
  logic [31:0] recv_length, dma_status, overflows;
  logic [SIZE_CHAINS-1:0][23:0] dma_list;
  logic [SIZE_CHAINS-1:0][31:0] dma_progress;
  logic [SIZE_DOORBELL_FIFOS-1:0][16:0] producer, consumer;
  logic [1:0] dma_chain;
  logic irq_enable, irq;
  reg_request_t host_reg;
  // Events.
  nic_status_t  status;  // error indications
  logic send_started, set_send, set_head, set_recv, set_buff, set_nres, recv_truncated, recv_reset;
  logic bell_wake;
  logic [1:0] set_wake;
  link_event_t link_event;
  // SRAM requests.
  sram_request_t pio_sram, dma_sram, rx_sram, tx_sram;
  sram_read_t pio_read, dma_read, tx_read;
  logic pio_gnt, dma_gnt, rx_gnt, tx_gnt;
  // Streams to and from the PCI side.
  logic
      pio_valid,
      pio_ready,
      rsp_valid,
      rsp_ready,
      cmd_valid,
      cmd_ready,
      wr_valid,
      wr_ready,
      rd_valid,
      rd_ready;
  pio_beat_t pio;
  logic [63:0] rsp_data, wr_data;
  pci_transfer_t cmd;
  pci_beat_t rd;
  logic unused_ok;
  assign unused_ok = ^{w_data[31:24], myrinet};
  // Clock gating.
  logic pio_near, pio_far, dma_near, dma_far, send_needed, recv_needed, event_needed, intr_needed;
  logic arb_busy, regs_busy, control_needed;
  logic   busy;
  alarm_t timer_alarm;
  sleep_t own_sleep, net_sleep, host_sleep;

  // Parts that need an edge, apart from the processor's requests.
  assign busy = arb_busy || pio_far || dma_far || control_needed;
  assign control_needed = regs_busy || event_needed || intr_needed;
  assign own_sleep = {busy, busy, 1'b0, timer_alarm};
  assign sleep = both(own_sleep, both(net_sleep, host_sleep));
  assign nic_gated_needed[ENGINE_PIO] = pio_near || pio_far;
  assign nic_gated_needed[ENGINE_DMA] = dma_near || dma_far;
  assign nic_gated_needed[ENGINE_SRAM] = arb_busy || cpu_sram.req || cpu_read.valid;
  assign nic_gated_needed[ENGINE_SEND] = send_needed;
  assign nic_gated_needed[ENGINE_RECV] = recv_needed;
  assign nic_gated_needed[ENGINE_CONTROL] = control_needed;
  assign intr_line = irq && irq_enable;
  assign trace.status = status;


  myri_sram_arbiter u_arbiter (
      .rst,
      .pio_sram,
      .pio_gnt,
      .pio_read,
      .dma_sram,
      .dma_gnt,
      .dma_read,
      .rx_sram,
      .rx_gnt,
      .tx_sram,
      .tx_gnt,
      .tx_read,
      .cpu_sram,
      .cpu_gnt,
      .cpu_free,
      .cpu_read,
      .mem_a,
      .mem_a_rdata,
      .mem_b,
      .mem_b_rdata,
      .cfg_accesses(cfg.sram_accesses),
      .clk(nic_gated_clk[ENGINE_SRAM]),
      .busy(arb_busy)
  );

  myri_lanai_regs u_regs (
      .rst,
      .cycle,
      .cpu_reg,
      .cpu_reg_rdata,
      .host_reg,
      .host_reg_ready,
      .host_reg_rdata,
      .w_data,
      .w_rmp,
      .w_rml,
      .w_smp,
      .w_sml,
      .w_smlt,
      .w_sa,
      .w_consumer,
      .rmp,
      .rml,
      .smp,
      .send_limit,
      .sa,
      .recv_length,
      .recv_orun,
      .dma_list,
      .dma_progress,
      .dma_status,
      .producer,
      .consumer,
      .overflows,
      .set_isr,
      .set_errors,
      .send_started,
      .isr,
      .isr_set,
      .myrinet,
      .cfg_rtc_num(cfg.rtc_numerator),
      .cfg_rtc_den(cfg.rtc_denominator),
      .clk(nic_gated_clk[ENGINE_CONTROL]),
      .hold_reset(lanai_reset),
      .pulse(reg_pulse),
      .w_list(reg_w_list),
      .recv_lost(status.rx_lost),
      .intr_line(irq),
      .alarm(timer_alarm),
      .busy(regs_busy)
  );

  myri_nic_events u_events (
      .set_head,
      .set_recv,
      .set_buff,
      .set_send,
      .set_nres,
      .recv_truncated,
      .recv_reset,
      .bell_wake,
      .set_wake,
      .link_event,
      .status,
      .set_isr,
      .set_errors,
      .dma_chain,
      .illegal_enable(myrinet[MYRINET_ILLEGAL_EN]),
      .beat_enable(myrinet[MYRINET_BEAT_EN])
  );

  myri_nic_net #(
      .SLACK_LOG2(SLACK_LOG2),
      .FIFO_LOG2 (FIFO_LOG2)
  ) u_net (
      .link_clk,
      .link_gated_clk,
      .link_rst,
      .link_cycle,
      .rx,
      .tx,
      .stop_lasts,
      .cfg,
      .trace(trace.net),
      .link_gated_needed,
      .link_sleep,
      .rst,
      .cycle,
      .w_rmp,
      .w_rml,
      .w_smp,
      .w_sml,
      .w_smlt,
      .w_sa,
      .rmp,
      .rml,
      .recv_length,
      .recv_orun,
      .smp,
      .send_limit,
      .sa,
      .send_started,
      .set_send,
      .set_head,
      .set_recv,
      .set_buff,
      .set_nres,
      .recv_truncated,
      .recv_reset,
      .link_event,
      .rx_sram,
      .rx_gnt,
      .tx_sram,
      .tx_gnt,
      .tx_read,
      .send_needed,
      .recv_needed,
      .event_needed,
      .clk(nic_gated_clk[ENGINE_CONTROL]),
      .send_clk(nic_gated_clk[ENGINE_SEND]),
      .recv_clk(nic_gated_clk[ENGINE_RECV]),
      .hold_reset(lanai_reset),
      .tx_crc_enable(myrinet[MYRINET_TX_CRC8_EN]),
      .rx_crc_enable(myrinet[MYRINET_RX_CRC8_EN]),
      .nres_enable(myrinet[MYRINET_NRES_EN]),
      .nres_code(myrinet[MYRINET_TIMEOUT+:2]),
      .w_data(w_data[23:0]),
      .send_misuse(status.send_misuse),
      .recv_lost(status.rx_lost),
      .sleep(net_sleep)
  );

  myri_nic_host u_host (
      .rst,
      .cycle,
      .pio_valid,
      .pio_ready,
      .pio,
      .rsp_valid,
      .rsp_ready,
      .rsp_data,
      .cmd_valid,
      .cmd_ready,
      .cmd,
      .wr_valid,
      .wr_ready,
      .wr_data,
      .rd_valid,
      .rd_ready,
      .rd,
      .host_reg,
      .host_reg_ready,
      .host_reg_rdata,
      .reg_pulse,
      .reg_w_list,
      .w_consumer,
      .dma_list,
      .dma_progress,
      .dma_status,
      .producer,
      .consumer,
      .overflows,
      .set_wake,
      .bell_wake,
      .lanai_reset,
      .irq_enable,
      .pio_sram,
      .pio_gnt,
      .pio_read,
      .dma_sram,
      .dma_gnt,
      .dma_read,
      .trace(trace.host),
      .cfg_start_clocks(cfg.dma_start_clocks),
      .pio_clk(nic_gated_clk[ENGINE_PIO]),
      .dma_clk(nic_gated_clk[ENGINE_DMA]),
      .pio_needed(pio_near),
      .dma_needed(dma_near),
      .reg_w_data(w_data[23:0]),
      .bell_overflow(status.doorbell_overflow),
      .dma_error(status.dma_error),
      .dma_chain,
      .pio_misuse(status.pio_misuse),
      .sleep(host_sleep)
  );

  myri_nic_pci #(
      .FIFO_LOG2(FIFO_LOG2)
  ) u_pci (
      .pci_clk,
      .pci_gated_clk,
      .pci_rst,
      .pci_cycle,
      .pci_in,
      .pci_out,
      .cfg,
      .pci_gated_needed,
      .pci_busy,
      .rst,
      .pio_valid,
      .pio_ready,
      .pio,
      .rsp_valid,
      .rsp_ready,
      .rsp_data,
      .cmd_valid,
      .cmd_ready,
      .cmd,
      .wr_valid,
      .wr_ready,
      .wr_data,
      .rd_valid,
      .rd_ready,
      .rd,
      .intr_line,
      .intr_needed,
      .pio_clk(nic_gated_clk[ENGINE_PIO]),
      .dma_clk(nic_gated_clk[ENGINE_DMA]),
      .clk(nic_gated_clk[ENGINE_CONTROL]),
      .pio_needed(pio_far),
      .dma_needed(dma_far),
      .busy()
  );
endmodule
