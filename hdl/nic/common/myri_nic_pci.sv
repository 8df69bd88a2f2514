// PCI side of a card with separate NIC and PCI clocks: myri_nic_card and the crossings to the NIC clock.
//
// The data of a DMA write have their own crossing; changes of the interrupt level cross as messages.
// Timing: each crossing costs its latency (cfg.cdc_latency).
module myri_nic_pci
  import myri_nic_engines_pkg::*;
  import myri_pci_pkg::*;
  import myri_settings_pkg::*;
#(
    parameter int FIFO_LOG2 = 4,  // entries of a data crossing = 2**FIFO_LOG2
    parameter bit RELATED   = 0   // the clocks are of one root, see myri_cdc_fifo
) (
    input logic pci_clk,  // PCI clock
    input logic [PCI_SIDES-1:0] pci_gated_clk,  // clocks of its sides, gated
    input logic pci_rst,  // synchronous reset
    input logic [47:0] pci_cycle,  // index of the coming edge
    input pci_in_t pci_in,  // resolved wires of the slot
    output pci_out_t pci_out,  // drives and enables
    input nic_settings_t cfg,  // configuration of the NIC
    output logic [PCI_SIDES-1:0] pci_gated_needed,  // clock enables of these clocks
    output logic pci_busy,  // PCI clock: 1 = a transfer is unfinished, or a further edge is needed
    input logic clk,  // NIC clock of intr_line; edges with intr_needed = 0 may be skipped
    input logic pio_clk,  // clk of the PIO crossings; edges with pio_needed = 0 may be skipped
    input logic dma_clk,  // clk of the DMA crossings; edges with dma_needed = 0 may be skipped
    input logic rst,  // synchronous reset
    output logic pio_valid,  // PIO stream
    input logic pio_ready,  // accepted
    output pio_beat_t pio,  // beat
    input logic rsp_valid,  // read answer
    output logic rsp_ready,  // accepted
    input logic [63:0] rsp_data,  // byte lanes
    input logic cmd_valid,  // DMA command
    output logic cmd_ready,  // accepted
    input pci_transfer_t cmd,  // command
    input logic wr_valid,  // DMA write beat
    output logic wr_ready,  // accepted
    input logic [63:0] wr_data,  // byte lanes
    output logic rd_valid,  // DMA read beat, or end of a command
    input logic rd_ready,  // accepted
    output pci_beat_t rd,  // beat
    input logic intr_line,  // level of the interrupt request
    output logic pio_needed,  // 1 = the coming edge of pio_clk is needed
    output logic dma_needed,  // 1 = the coming edge of dma_clk is needed
    output logic intr_needed,  // 1 = the coming edge of clk is needed
    output logic busy  // NIC clock: 1 = a further edge is needed
);
  logic far_pio_valid, far_pio_ready, far_rsp_valid, far_cmd_valid, far_cmd_ready;
  logic far_wr_valid, far_wr_ready, far_rd_valid, far_rd_ready, inta, card_busy;
  pio_beat_t far_pio;
  logic [63:0] far_rsp_data, far_wr_data;
  pci_transfer_t far_cmd;
  pci_beat_t far_rd;
  logic [PCI_SIDES-1:0] card_needed;
  typedef struct packed {logic irq, read, write, command, response, pio;} crossings_t;
  crossings_t near_busy;  // PCI side of each crossing
  crossings_t far_busy;  // NIC side

  assign pci_gated_needed[SIDE_TARGET] = card_needed[SIDE_TARGET] || near_busy.pio || near_busy.response;
  assign pci_gated_needed[SIDE_MASTER] = card_needed[SIDE_MASTER] || near_busy.command || near_busy.write ||
                                         near_busy.read;
  assign pci_busy = card_busy || near_busy != '0;
  assign busy = far_busy != '0;
  assign pio_needed = far_busy.pio || far_busy.response;
  assign dma_needed = far_busy.command || far_busy.write || far_busy.read;
  assign intr_needed = far_busy.irq;

  myri_nic_card u_card (
      .pci_gated_clk,
      .pci_in,
      .pci_out,
      .inta,
      .rst(pci_rst),
      .cycle(pci_cycle),
      .cfg(cfg.pci),
      .pio_valid(far_pio_valid),
      .pio_ready(far_pio_ready),
      .pio(far_pio),
      .rsp_valid(far_rsp_valid),
      .rsp_data(far_rsp_data),
      .cmd_valid(far_cmd_valid),
      .cmd_ready(far_cmd_ready),
      .cmd(far_cmd),
      .wr_valid(far_wr_valid),
      .wr_ready(far_wr_ready),
      .wr_data(far_wr_data),
      .rd_valid(far_rd_valid),
      .rd_ready(far_rd_ready),
      .rd(far_rd),
      .pci_gated_needed(card_needed),
      .busy(card_busy)
  );

  myri_cdc_fifo #(
      .WIDTH($bits(pio_beat_t)),
      .DEPTH_LOG2(FIFO_LOG2),
      .RELATED(RELATED)
  ) u_pio (
      .cfg_latency(cfg.cdc_latency),
      .w_clk(pci_gated_clk[SIDE_TARGET]),
      .w_rst(pci_rst),
      .w_valid(far_pio_valid),
      .w_ready(far_pio_ready),
      .w_data(far_pio),
      .w_busy(near_busy.pio),
      .r_clk(pio_clk),
      .r_rst(rst),
      .r_valid(pio_valid),
      .r_ready(pio_ready),
      .r_data(pio),
      .r_busy(far_busy.pio)
  );

  myri_cdc_fifo #(
      .WIDTH(64),
      .DEPTH_LOG2(FIFO_LOG2),
      .RELATED(RELATED)
  ) u_response (
      .cfg_latency(cfg.cdc_latency),
      .w_clk(pio_clk),
      .w_rst(rst),
      .w_valid(rsp_valid),
      .w_ready(rsp_ready),
      .w_data(rsp_data),
      .w_busy(far_busy.response),
      .r_clk(pci_gated_clk[SIDE_TARGET]),
      .r_rst(pci_rst),
      .r_valid(far_rsp_valid),
      .r_ready(1'b1),
      .r_data(far_rsp_data),
      .r_busy(near_busy.response)
  );

  myri_cdc_fifo #(
      .WIDTH($bits(pci_transfer_t)),
      .DEPTH_LOG2(2),
      .RELATED(RELATED)
  ) u_command (
      .cfg_latency(cfg.cdc_latency),
      .w_clk(dma_clk),
      .w_rst(rst),
      .w_valid(cmd_valid),
      .w_ready(cmd_ready),
      .w_data(cmd),
      .w_busy(far_busy.command),
      .r_clk(pci_gated_clk[SIDE_MASTER]),
      .r_rst(pci_rst),
      .r_valid(far_cmd_valid),
      .r_ready(far_cmd_ready),
      .r_data(far_cmd),
      .r_busy(near_busy.command)
  );

  myri_cdc_fifo #(
      .WIDTH(64),
      .DEPTH_LOG2(FIFO_LOG2),
      .RELATED(RELATED)
  ) u_write (
      .cfg_latency(cfg.cdc_latency),
      .w_clk(dma_clk),
      .w_rst(rst),
      .w_valid(wr_valid),
      .w_ready(wr_ready),
      .w_data(wr_data),
      .w_busy(far_busy.write),
      .r_clk(pci_gated_clk[SIDE_MASTER]),
      .r_rst(pci_rst),
      .r_valid(far_wr_valid),
      .r_ready(far_wr_ready),
      .r_data(far_wr_data),
      .r_busy(near_busy.write)
  );

  myri_cdc_fifo #(
      .WIDTH($bits(pci_beat_t)),
      .DEPTH_LOG2(FIFO_LOG2),
      .RELATED(RELATED)
  ) u_read (
      .cfg_latency(cfg.cdc_latency),
      .w_clk(pci_gated_clk[SIDE_MASTER]),
      .w_rst(pci_rst),
      .w_valid(far_rd_valid),
      .w_ready(far_rd_ready),
      .w_data(far_rd),
      .w_busy(near_busy.read),
      .r_clk(dma_clk),
      .r_rst(rst),
      .r_valid(rd_valid),
      .r_ready(rd_ready),
      .r_data(rd),
      .r_busy(far_busy.read)
  );

  myri_level_cross #(
      .RELATED(RELATED)
  ) u_interrupt (
      .cfg_latency(cfg.cdc_latency),
      .w_clk(clk),
      .w_rst(rst),
      .w_level(intr_line),
      .w_busy(far_busy.irq),
      .r_clk(pci_clk),
      .r_rst(pci_rst),
      .r_level(inta),
      .r_busy(near_busy.irq)
  );
endmodule
