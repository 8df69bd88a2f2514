// Myrinet NIC of the LANai 4 / PCI32 kind: 32-bit SRAM behind an arbiter, special registers, packet interface, one host
// DMA, PCI. The SRAM itself and the processor are external (ports mem_*, cpu_*).
//
// All blocks but the link run on the PCI clock (fact sheet 3.1; readings A8), in one domain without crossings; two
// clocks meet only between the engines and the link. Each is gated separately. `sleep` does not count SRAM
// requests of the processor. An alarm that is not in the future requests the next edge.
// Timing: see the parts. Trace: as in myri_nic.
module myri_nic4
  import myri_nic_engines_pkg::*;
  import myri_sleep_pkg::*;
  import myri_nic_trace_pkg::*;
  import myri_lanai4_pkg::*;
  import myri_pci_pkg::*;
  import myri_settings_pkg::*;
  import myri_sram_pkg::*;
#(
    parameter int SLACK_LOG2 = 7,  // slack memory of the link port = 2**SLACK_LOG2 characters
    parameter int FIFO_LOG2  = 4   // entries of a data crossing = 2**FIFO_LOG2
) (
    input logic clk,  // clock of the PCI bus: processor, SRAM, engines, bus
    input logic [PCI_SIDES-1:0] pci_gated_clk,  // clk of the sides towards the bus, gated
    input logic rst,  // synchronous reset
    input logic [47:0] cycle,  // index of the coming edge
    output sleep_t sleep,  // when the NIC clock must run, apart from the processor's SRAM requests
    output logic [PCI_SIDES-1:0] pci_gated_needed,  // clock enables of these clocks
    input logic link_clk,  // character clock
    input logic link_rst,  // synchronous reset
    input logic [47:0] link_cycle,  // index of the coming edge
    output sleep_t link_sleep,  // when link_clk must run
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
  localparam int WIDTH = 32;
  // Registers.
  logic [31:0] w_data, set_isr, set_errors, host_reg_rdata, recv_length;
  logic w_rmp, w_rml, w_smp, w_sml, w_smlt, w_sa, w_ear, w_lar, w_dir, w_ctr;
  logic host_reg_ready, nres_enable, crc_enable, irq_enable, irq;
  logic [23:0] rmp, rml, smp, send_limit;
  logic [2:0] sa, recv_orun;
  logic [1:0] nres_code;
  logic [31:0] ear, lar, ctr;
  logic dir;
  reg_request_t host_reg;
  // Events.
  nic_status_t status;  // error indications
  logic send_started, set_send, set_recv, set_buff, set_nres, recv_truncated, recv_reset;
  logic set_done, dma_misuse, send_misuse;
  link_event_t link_event;
  // SRAM requests.
  sram_request_t pio_sram, dma_sram, rx_sram, tx_sram;
  sram_read_t pio_read, dma_read, tx_read;
  logic pio_gnt, dma_gnt, rx_gnt, tx_gnt;
  // Streams to and from the PCI side.
  logic pio_valid, pio_ready, rsp_valid, cmd_valid, cmd_ready;
  logic wr_valid, wr_ready, rd_valid, rd_ready;
  pio_beat_t pio;
  logic [63:0] rsp_data, wr_data;
  pci_transfer_t cmd;
  pci_beat_t rd;
  // Clock gating.
  logic arb_busy, regs_busy, card_busy;
  logic   busy;
  alarm_t timer_alarm;
  sleep_t own_sleep, net_sleep, host_sleep;
  pci_card_settings_t narrow;  // the card has 32 bits and 33 MHz
  always_comb narrow = {cfg.pci.master, cfg.pci.target, cfg.pci.base, cfg.pci.enabled, 1'b0, 1'b0};
  logic unused_ok;
  assign unused_ok = ^{
    link_event.missed, link_event.beat, link_event.forward_reset, link_event.illegal, link_event.sent
  };

  assign busy = arb_busy || regs_busy || card_busy;
  assign own_sleep = {busy, busy, 1'b0, timer_alarm};
  assign sleep = both(own_sleep, both(net_sleep, host_sleep));
  assign intr_line = irq && irq_enable;
  assign trace.status = status;
  assign status.doorbell_overflow = 1'b0;
  assign status.send_misuse = send_misuse || dma_misuse;


  assign set_isr = ({31'd0, set_recv} << ISR_RECV) |
      ({31'd0, set_buff} << ISR_BUFF) |
      ({31'd0, set_send} << ISR_SEND) |
      ({31'd0, set_done} << ISR_DMA) |
      ({31'd0, set_nres} << ISR_NRES) |
      ({31'd0, link_event.down} << ISR_LINK) |
      ({31'd0, status.dma_error} << ISR_DMA_ERROR) |
      ({31'd0, status.send_misuse || recv_truncated} << ISR_NET_ERROR);
  assign set_errors = ({31'd0, send_misuse} << ERR_SEND_MISUSE) |
      ({31'd0, recv_truncated} << ERR_RX_TRUNCATED) |
      ({31'd0, recv_reset} << ERR_RX_RESET) |
      ({31'd0, status.pio_misuse} << ERR_PIO_MISUSE) |
      ({31'd0, status.dma_error} << ERR_DMA) |
      ({31'd0, dma_misuse} << ERR_DMA_MISUSE);

  myri_sram_arbiter u_arbiter (
      .clk,
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
      .busy(arb_busy)
  );

  myri_lanai4_regs u_regs (
      .clk,
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
      .w_ear,
      .w_lar,
      .w_dir,
      .w_ctr,
      .rmp,
      .rml,
      .smp,
      .send_limit,
      .sa,
      .ear,
      .lar,
      .dir,
      .ctr,
      .recv_length,
      .recv_orun,
      .set_isr,
      .set_errors,
      .send_started,
      .isr,
      .isr_set,
      .nres_code,
      .nres_enable,
      .crc_enable,
      .cfg_rtc_num(cfg.rtc_numerator),
      .cfg_rtc_den(cfg.rtc_denominator),
      .hold_reset(lanai_reset),
      .dma_runs(host_sleep.in_flight),
      .recv_lost(status.rx_lost),
      .intr_line(irq),
      .alarm(timer_alarm),
      .busy(regs_busy)
  );

  myri_nic_net #(
      .SLACK_LOG2(SLACK_LOG2),
      .FIFO_LOG2(FIFO_LOG2),
      .WIDTH(WIDTH)
  ) u_net (
      .link_clk,
      .link_rst,
      .link_cycle,
      .rx,
      .tx,
      .stop_lasts,
      .cfg,
      .trace(trace.net),
      .link_sleep,
      .clk,
      .rst,
      .cycle,
      .nres_enable,
      .nres_code,
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
      .send_misuse,
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
      .set_head(),
      .link_gated_clk({link_clk, link_clk}),
      .link_gated_needed(),
      .send_clk(clk),
      .recv_clk(clk),
      .send_needed(),
      .recv_needed(),
      .event_needed(),
      .hold_reset(lanai_reset),
      .tx_crc_enable(crc_enable),
      .rx_crc_enable(crc_enable),
      .w_data(w_data[23:0]),
      .recv_lost(status.rx_lost),
      .sleep(net_sleep)
  );

  myri_nic4_host u_host (
      .clk,
      .rst,
      .cycle,
      .pio_valid,
      .pio_ready,
      .pio,
      .rsp_valid,
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
      .w_ear,
      .w_lar,
      .w_dir,
      .w_ctr,
      .w_data,
      .ear,
      .lar,
      .dir,
      .ctr,
      .set_done,
      .dma_misuse,
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
      .cfg_sram_above(cfg.sram_above),
      .dma_error(status.dma_error),
      .pio_misuse(status.pio_misuse),
      .sleep(host_sleep)
  );

  myri_nic_card #(
      .BAR_LOG2(21)
  ) u_card (
      .pci_gated_clk,
      .rst,
      .cycle,
      .pci_in,
      .pci_out,
      .pio_valid,
      .pio_ready,
      .pio,
      .rsp_valid,
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
      .pci_gated_needed,
      .cfg (narrow),
      .inta(intr_line),
      .busy(card_busy)
  );
endmodule
