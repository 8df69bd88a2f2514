// SP adapter (paper 001, 3.1.2): a PCI card with two FIFOs between the engines, a link interface, and an SRAM that host
// and processor share. SRAM and processor are external (ports mem_*, cpu_*).
//
// Three clocks meet only in crossings, as in myri_nic; with cfg.cdc_latency 0 a crossing is the one register that two
// clocks from one source need. Each clock is gated separately. `sleep` and `_ago`: as in myri_nic.
// Timing: see the parts.
module sp_adapter
  import myri_nic_engines_pkg::*;
  import myri_sleep_pkg::*;
  import myri_nic_trace_pkg::*;
  import sp_trace_pkg::*;
  import myri_pci_pkg::*;
  import myri_settings_pkg::*;
  import myri_sram_pkg::*;
  import sp_adapter_pkg::*;
#(
    parameter int SLACK_LOG2 = 7,  // slack memory of the link port = 2**SLACK_LOG2 characters
    parameter int CROSS_LOG2 = 4,  // entries of a data crossing = 2**CROSS_LOG2
    parameter int SLOTS_LOG2 = 1   // packets of the receive buffer = 2**SLOTS_LOG2
) (
    input logic clk,  // NIC clock
    input logic rst,  // synchronous reset
    input logic [47:0] cycle,  // index of the coming edge
    output sleep_t sleep,  // when the NIC clock must run, apart from the processor's SRAM requests
    input logic link_clk,  // character clock
    input logic link_rst,  // synchronous reset
    input logic [47:0] link_cycle,  // index of the coming edge
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
    output logic [63:0] cpu_rdata,  // read data, one clock later
    output logic [31:0] isr,  // STATUS, which a polling loop watches
    output logic intr_line,  // level: interrupt request, before it crosses to INTA#
    input nic_settings_t cfg,  // configuration of the NIC
    input logic [7:0] cfg_bus_beat,  // NIC clocks that a beat of the right engine keeps the internal bus
    input logic [7:0] cfg_bus_access,  // NIC clocks that an access of host or processor keeps it
    input logic cfg_doorbell,  // 1 = the adapter has doorbells
    output sp_trace_t trace  // events of every clock
);
  localparam int KEY_AT = 16;  // first byte of the VIA header

  // Streams to and from the PCI side, and to and from the link side.
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
  logic send_valid, send_ready, recv_valid, recv_ready;
  pio_beat_t pio;
  logic [63:0] rsp_data, wr_data;
  pci_transfer_t cmd;
  pci_beat_t rd;
  send_head_t send_head;
  recv_head_t recv_head;
  logic [63:0] send_data, recv_data;
  link_event_t link_event;
  // SRAM accesses of the host.
  sram_request_t pio_sram;
  logic pio_gnt;
  // Registers and events.
  logic
      arrived,
      send_free,
      queue_room,
      left_idle,
      set_fetched,
      set_stored,
      set_sent,
      set_read,
      set_alarm,
      set_bell,
      clear_irq,
      irq;
  logic w_command, w_words, w_next, w_send, w_start, w_consumer, w_base;
  logic w_own;
  logic [3:0] w_index;
  logic [5:0] set_errors;
  logic [31:0] recv_word, recv_status, read_word, overflows;
  logic [16:0] producer, consumer;
  logic [23:0] base;
  logic [63:0] w_pair;
  nic_status_t status;  // error indications
  sp_engine_trace_t engine_trace;
  nic_trace_t nic_trace;
  net_trace_t net_trace;
  host_trace_t host_trace;
  // Clock gating.
  logic busy, regs_busy, host_busy, far_busy, near_busy, unused_ok;
  alarm_t timer_alarm;
  sleep_t own_sleep, engine_sleep;

  assign busy = regs_busy || host_busy || far_busy || near_busy;
  assign own_sleep = {busy, busy, 1'b0, timer_alarm};
  assign sleep = both(own_sleep, engine_sleep);
  assign intr_line = irq;
  assign net_trace.send = engine_trace.send;
  assign net_trace.recv = engine_trace.recv;
  assign host_trace.dma = engine_trace.dma;
  assign nic_trace.net = net_trace;
  assign nic_trace.host = host_trace;
  assign nic_trace.status = status;
  assign trace.nic = nic_trace;
  assign trace.move = engine_trace.move;
  assign trace.queue_overflow = engine_trace.queue_overflow;
  assign trace.packet_misuse = engine_trace.packet_misuse;
  assign status.rx_lost = 1'b0;
  assign set_errors = ({5'd0, status.send_misuse} << ERR_SEND_MISUSE) |
      ({5'd0, engine_trace.queue_overflow} << ERR_QUEUE_OVERFLOW) |
      ({5'd0, engine_trace.packet_misuse} << ERR_PACKET_MISUSE) |
      ({5'd0, status.dma_error} << ERR_BUS) |
      ({5'd0, status.doorbell_overflow} << ERR_BELL_OVERFLOW) |
      ({5'd0, status.pio_misuse} << ERR_PIO_MISUSE);
  assign unused_ok = ^link_event;

  // The SRAM: the host accesses one port, the processor the other.
  assign mem_a = pio_gnt ? pio_sram : SRAM_IDLE;
  assign mem_b = cpu_gnt ? cpu_sram : SRAM_IDLE;
  assign cpu_rdata = mem_b_rdata;

  sp_regs u_regs (
      .clk,
      .rst,
      .cycle,
      .cpu_reg,
      .cpu_reg_rdata,
      .arrived,
      .send_free,
      .queue_room,
      .left_idle,
      .set_fetched,
      .set_stored,
      .set_sent,
      .set_read,
      .set_alarm,
      .set_bell,
      .set_errors,
      .recv_word,
      .recv_status,
      .read_word,
      .producer,
      .consumer,
      .base,
      .overflows,
      .clear_irq,
      .irq,
      .w_command,
      .w_words,
      .w_next,
      .w_send,
      .w_own,
      .w_index,
      .w_start,
      .w_consumer,
      .w_base,
      .w_pair,
      .status(isr),
      .alarm (timer_alarm),
      .busy  (regs_busy)
  );

  sp_engines #(
      .SLOTS_LOG2(SLOTS_LOG2)
  ) u_engines (
      .clk,
      .rst,
      .cycle,
      .cfg_bus_beat,
      .cfg_bus_access,
      .w_command,
      .w_words,
      .w_pair,
      .w_next,
      .w_send,
      .w_own,
      .w_index,
      .w_start,
      .arrived,
      .send_free,
      .queue_room,
      .left_idle,
      .set_fetched,
      .set_stored,
      .set_sent,
      .set_read,
      .set_alarm,
      .read_word,
      .recv_word,
      .recv_status,
      .pio_gnt,
      .cpu_gnt,
      .cmd_valid,
      .cmd_ready,
      .cmd,
      .wr_valid,
      .wr_ready,
      .wr_data,
      .rd_valid,
      .rd_ready,
      .rd,
      .send_valid,
      .send_ready,
      .send_head,
      .send_data,
      .recv_valid,
      .recv_ready,
      .recv_head,
      .recv_data,
      .trace(engine_trace),
      .pio_req(pio_sram.req),
      .cpu_req(cpu_sram.req),
      .dma_error(status.dma_error),
      .send_misuse(status.send_misuse),
      .cfg_start_clocks(cfg.dma_start_clocks),
      .r_index(cpu_reg.addr[6:2]),
      .w_data(cpu_reg.wdata),
      .sleep(engine_sleep)
  );

  sp_host u_host (
      .clk,
      .rst,
      .cfg_doorbell,
      .pio_valid,
      .pio_ready,
      .pio,
      .rsp_valid,
      .rsp_ready,
      .rsp_data,
      .w_consumer,
      .w_base,
      .producer,
      .consumer,
      .base,
      .overflows,
      .set_bell,
      .irq,
      .clear_irq,
      .pio_trace(host_trace.pio),
      .sram(pio_sram),
      .sram_gnt(pio_gnt),
      .sram_rdata(mem_a_rdata),
      .w_data(cpu_reg.wdata),
      .bell_overflow(status.doorbell_overflow),
      .misuse(status.pio_misuse),
      .busy(host_busy)
  );

  myri_nic_pci #(
      .FIFO_LOG2(CROSS_LOG2),
      .RELATED  (1)
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
      .clk,
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
      .pio_clk(clk),
      .dma_clk(clk),
      .pio_needed(),
      .dma_needed(),
      .intr_needed(),
      .busy(far_busy)
  );

  myri_nic_link #(
      .SLACK_LOG2(SLACK_LOG2),
      .FIFO_LOG2(CROSS_LOG2),
      .KEY_AT(KEY_AT),
      .RELATED(1)
  ) u_link (
      .link_clk,
      .link_rst,
      .link_cycle,
      .rx,
      .tx,
      .stop_lasts,
      .cfg,
      .link_trace(net_trace.link),
      .link_sleep,
      .clk,
      .rst,
      .send_valid,
      .send_ready,
      .send_head,
      .send_data,
      .recv_valid,
      .recv_ready,
      .recv_head,
      .recv_data,
      .link_event,
      .link_gated_clk({link_clk, link_clk}),
      .link_gated_needed(),
      .send_clk(clk),
      .recv_clk(clk),
      .send_busy(),
      .recv_busy(),
      .event_busy(),
      .busy(near_busy)
  );
endmodule
