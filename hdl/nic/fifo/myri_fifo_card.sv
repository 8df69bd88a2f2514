// FIFO card (paper 002: the cards of HPAM and SSAM): a memory that the host maps, FIFOs, and a link. It has no
// processor and no DMA: the host stores each word that it sends, and loads each word that it receives.
//
// host -> memory -> send side -> link          link -> receive side -> memory -> host
//
// The memory is external, with one port for the host (a) and one for both sides (b), where the receive side has
// priority. The two forms of the card, buffers and cells, are described in pymodels/nics/fifo/registers.py. Three
// clocks meet only in crossings, as in myri_nic; each is gated separately. `sleep` and `_ago`: as in myri_nic.
// Timing: see the parts.
module myri_fifo_card
  import myri_nic_engines_pkg::*;
  import myri_sleep_pkg::*;
  import myri_nic_trace_pkg::*;
  import myri_fifo_card_trace_pkg::*;
  import myri_fifo_card_pkg::*;
  import myri_pci_pkg::*;
  import myri_settings_pkg::*;
  import myri_sram_pkg::*;
#(
    parameter int SLACK_LOG2 = 7,  // slack memory of the link port = 2**SLACK_LOG2 characters
    parameter int CROSS_LOG2 = 4   // entries of a data crossing = 2**CROSS_LOG2
) (
    input logic clk,  // NIC clock
    input logic rst,  // synchronous reset
    input logic [47:0] cycle,  // index of the coming edge
    output sleep_t sleep,  // when the NIC clock must run
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
    output logic intr_line,  // level: interrupt request, before it crosses to INTA#
    input nic_settings_t cfg,  // configuration of the NIC
    output fifo_trace_t trace  // events of every clock
);
  logic busy;

  // Streams to and from the PCI side, and to and from the link side.
  logic pio_valid, pio_ready, rsp_valid, rsp_ready, send_valid, send_ready, recv_valid, recv_ready;
  pio_beat_t pio;
  logic [63:0] rsp_data;
  send_head_t send_head;
  recv_head_t recv_head;
  logic [63:0] send_data, recv_data;
  // Registers.
  logic cells, empty, renew, ctl, tx_push, give, ready_next, cell_next, irq;
  nic_trace_t  nic_trace;
  net_trace_t  net_trace;
  host_trace_t host_trace;
  logic in_flight, pio_write, host_misuse, cell_refused;
  logic no_number, pooled, bad_descriptor, out_dropped;
  logic [23:0] addr;
  logic [ 7:0] be;
  logic [31:0] value, rvalue, ready;
  // Jobs to send, and places for received packets and cells.
  logic tx_room, tx_valid, send_done, put, begun, out_full, in_full, arrive, free_valid;
  logic [6:0] tx_number, free_number;
  logic [5:0] tx_level, out_level;
  logic [7:0] free_level, ready_level;
  logic [8:0] in_level;
  fifo_arrival_t arrived_as;
  logic [22:0] out_tail, out_head, in_tail, in_head, recv_place;
  // Memory port b.
  sram_request_t send_mem, recv_mem;
  // Clock gating.
  logic send_busy, recv_busy, regs_busy, host_busy, far_busy, near_busy, send_open, recv_open;
  // Ports of the PCI side that only cards with DMA use.
  logic cmd_ready, wr_ready, rd_valid, unused_ok;
  pci_beat_t   rd;
  link_event_t link_event;

  assign sleep = {busy, busy, in_flight, NO_ALARM};
  assign busy = send_busy || recv_busy || regs_busy || host_busy || far_busy || near_busy;
  assign in_flight = send_open || recv_open;
  // It has no DMA and no doorbells.
  assign host_trace.dma = '0;
  assign host_trace.pio = {pio_write, addr, {$bits(bell_trace_t) {1'b0}}};
  assign nic_trace.net = net_trace;
  assign nic_trace.host = host_trace;
  assign nic_trace.status = '0;
  assign trace.nic = nic_trace;
  assign trace.host_misuse = host_misuse;
  assign trace.cell_refused = cell_refused;
  assign intr_line = irq;
  assign recv_place = cells ? in_tail : {5'd0, free_number, 11'd0};
  assign unused_ok = ^{link_event, cmd_ready, wr_ready, rd_valid, rd};
  assign empty = !in_flight && !begun && {tx_level, out_level, ready_level, in_level} == '0;

  assign mem_b = recv_mem.req ? recv_mem : send_mem;

  myri_fifo_card_host u_host (
      .clk,
      .rst,
      .pio_valid,
      .pio_ready,
      .pio,
      .rsp_valid,
      .rsp_ready,
      .rsp_data,
      .cells,
      .out_full,
      .put,
      .out_dropped,
      .begun,
      .ctl,
      .addr,
      .be,
      .value,
      .rvalue,
      .wrote    (pio_write),
      .mem      (mem_a),
      .mem_rdata(mem_a_rdata),
      .out_slot (out_tail),
      .in_slot  (in_head),
      .busy     (host_busy)
  );

  myri_fifo_card_regs u_regs (
      .clk,
      .rst,
      .ctl,
      .addr,
      .be,
      .value,
      .rvalue,
      .cells,
      .empty,
      .renew,
      .free_level,
      .ready,
      .tx_room,
      .out_dropped,
      .no_number,
      .pooled,
      .bad_descriptor,
      .tx_push,
      .give,
      .ready_next,
      .cell_next,
      .irq,
      .send_idle(!tx_valid && out_level == 6'd0),
      .send_level({2'd0, cells ? out_level : tx_level}),
      .receive_level(cells ? in_level : {1'b0, ready_level}),
      .cell_refused(cell_refused),
      .host_misuse(host_misuse),
      .busy(regs_busy)
  );

  // Form of buffers.
  myri_fifo #(
      .WIDTH(7),
      .DEPTH_LOG2($clog2(SIZE_TX_READY))
  ) u_tx_ready (
      .clk(clk),
      .rst(rst),
      .w_valid(tx_push),
      .w_ready(tx_room),
      .w_data(value[6:0]),
      .r_valid(tx_valid),
      .r_ready(send_done && !cells),
      .r_data(tx_number),
      .level(tx_level),
      .busy()
  );

  myri_fifo_card_pool u_pool (
      .clk,
      .give,
      .no_number,
      .pooled,
      .free_valid,
      .free_number,
      .free_level,
      .arrived_as,
      .ready,
      .ready_level,
      .rst(rst || renew),
      .number(value),
      .arrive(arrive && !cells),
      .next(ready_next)
  );

  // Form of cells.
  myri_fifo_card_ring #(
      .SLOTS_LOG2($clog2(SIZE_OUT_CELLS)),
      .BASE(SIZE_OUT_BASE)
  ) u_out (
      .clk  (clk),
      .rst  (rst),
      .put  (put),
      .take (send_done && cells),
      .tail (out_tail),
      .head (out_head),
      .full (out_full),
      .level(out_level)
  );

  myri_fifo_card_ring #(
      .SLOTS_LOG2($clog2(SIZE_IN_CELLS)),
      .BASE(SIZE_IN_BASE)
  ) u_in (
      .clk  (clk),
      .rst  (rst),
      .put  (arrive && cells),
      .take (cell_next),
      .tail (in_tail),
      .head (in_head),
      .full (in_full),
      .level(in_level)
  );

  // Both.
  myri_fifo_card_send u_send (
      .clk,
      .rst,
      .cycle,
      .cells,
      .send_valid,
      .send_ready,
      .send_head,
      .send_data,
      .job_valid(cells ? out_level != 6'd0 : tx_valid),
      .job_number(tx_number),
      .job_slot(out_head),
      .done(send_done),
      .refused(bad_descriptor),
      .mem(send_mem),
      .mem_gnt(send_mem.req && !recv_mem.req),
      .mem_rdata(mem_b_rdata),
      .trace(net_trace.send),
      .in_flight(send_open),
      .busy(send_busy)
  );

  myri_fifo_card_receive u_receive (
      .clk,
      .rst,
      .cells,
      .arrive,
      .arrived_as,
      .in_valid(recv_valid),
      .in_ready(recv_ready),
      .in_head(recv_head),
      .in_data(recv_data),
      .place_valid(cells ? !in_full : free_valid),
      .place(recv_place),
      .mem(recv_mem),
      .mem_gnt(recv_mem.req),
      .refused(cell_refused),
      .trace(net_trace.recv),
      .in_flight(recv_open),
      .busy(recv_busy)
  );

  myri_nic_pci #(
      .FIFO_LOG2(CROSS_LOG2)
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
      .cmd_ready,
      .wr_ready,
      .rd_valid,
      .rd,
      .intr_line,
      .cmd_valid(1'b0),
      .cmd(49'd0),
      .wr_valid(1'b0),
      .wr_data(64'd0),
      .rd_ready(1'b1),
      .pio_clk(clk),
      .dma_clk(clk),
      .pio_needed(),
      .dma_needed(),
      .intr_needed(),
      .busy(far_busy)
  );

  myri_nic_link #(
      .SLACK_LOG2(SLACK_LOG2),
      .FIFO_LOG2 (CROSS_LOG2)
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
