// Host side of the LANai 4 NIC: PIO unit, control register, host DMA, all in the clock of the PCI bus.
//
// Map of the card (fact sheet 3.7): SRAM, EEPROM (absent, reads 0), special registers, control register. 1 MB of SRAM
// (`cfg_sram_above`) lies above the other regions. The address of the control register is that of the fact sheet; its
// bits are those of the PCI64 card (our choice), big-endian like the other registers.
// Timing: see the parts. SRAM requests: `pio` carries PIO, `dma` the host DMA.
module myri_nic4_host
  import myri_pci_pkg::*;
  import myri_nic_engines_pkg::*;
  import myri_sleep_pkg::*;
  import myri_nic_trace_pkg::*;
  import myri_sram_pkg::*;
  import myri_lanai4_pkg::*;
(
    input logic clk,  // clock of NIC and PCI bus
    input logic rst,  // synchronous reset
    input logic [47:0] cycle,  // index of the coming edge
    input logic cfg_sram_above,  // 1 MB of SRAM, behind the other regions
    input logic [15:0] cfg_start_clocks,  // start-up of a DMA transfer
    input logic pio_valid,  // PIO stream
    output logic pio_ready,  // accepted
    input pio_beat_t pio,  // beat
    output logic rsp_valid,  // read answer
    output logic [63:0] rsp_data,  // byte lanes
    output logic cmd_valid,  // DMA command
    input logic cmd_ready,  // accepted
    output pci_transfer_t cmd,  // command
    output logic wr_valid,  // DMA write beat
    input logic wr_ready,  // accepted
    output logic [63:0] wr_data,  // byte lanes
    input logic rd_valid,  // DMA read beat, or end of a command
    output logic rd_ready,  // accepted
    input pci_beat_t rd,  // beat
    output reg_request_t host_reg,  // special registers: access of the host
    input logic host_reg_ready,  // access done in this clock
    input logic [31:0] host_reg_rdata,  // read data
    input logic w_ear,  // write strobes of the DMA registers
    input logic w_lar,  // LAR
    input logic w_dir,  // DMA_DIR
    input logic w_ctr,  // DMA_CTR
    input logic [31:0] w_data,  // value of all
    output logic [31:0] ear,  // read value
    output logic [31:0] lar,  // LAR
    output logic dir,  // DMA_DIR
    output logic [31:0] ctr,  // DMA_CTR
    output logic set_done,  // strobe: the DMA has finished
    output logic dma_error,  // strobe: it was ended by an error
    output logic dma_misuse,  // strobe: a write of its registers was ignored
    output logic pio_misuse,  // strobe: a register write of the host was ignored
    output logic lanai_reset,  // level: LANai in reset
    output logic irq_enable,  // level: INTA# may be driven
    output sram_request_t pio_sram,  // SRAM: PIO
    input logic pio_gnt,  // grant
    input sram_read_t pio_read,  // read data
    output sram_request_t dma_sram,  // SRAM: host DMA
    input logic dma_gnt,  // grant
    input sram_read_t dma_read,  // read data
    output host_trace_t trace,  // events of this clock
    output sleep_t sleep  // when the NIC clock must run
);
  logic beat_valid, beat_ready, beat_rsp_valid, ctl_valid, to_sram, to_regs, ebus_reset, control;
  pio_beat_t beat;
  logic [31:0] beat_rsp_data, ctl_rdata, data, value;
  logic [23:0] addr;
  logic [22:0] sram_offset;
  logic [ 3:0] be;
  logic [ 7:0] state;
  logic pio_busy, pio_write, bell_valid;
  sleep_t dma_sleep;

  logic   unused_ok;
  assign unused_ok = bell_valid;

  // Address decoder of the card.
  assign to_sram = cfg_sram_above ? {1'b0, addr} >= PCI_SRAM_1MB : {1'b0, addr} < PCI_EEPROM;
  assign to_regs = {1'b0, addr} >= PCI_REGISTERS && {1'b0, addr} < PCI_REGISTERS + 25'(SIZE_REGISTERS);
  assign sram_offset = {3'd0, addr[19:0]};
  assign control = {1'b0, addr} == PCI_CONTROL;
  assign value = {data[7:0], data[15:8], data[23:16], data[31:24]};
  assign ctl_rdata = control ? {24'd0, state} : 32'd0;
  // It has no doorbells.
  assign trace.pio = {
    pio_write, to_sram ? {1'b0, sram_offset} : addr, {$bits(bell_trace_t) {1'b0}}
  };
  assign sleep = {
    pio_busy || dma_sleep.needed, pio_busy || dma_sleep.busy, dma_sleep.in_flight, dma_sleep.alarm
  };

  myri_beat_split u_split (
      .clk,
      .rst,
      .rsp_valid,
      .rsp_data,
      .in_valid(pio_valid),
      .in_ready(pio_ready),
      .in_beat(pio),
      .out_valid(beat_valid),
      .out_ready(beat_ready),
      .out_beat(beat),
      .out_rsp_valid(beat_rsp_valid),
      .out_rsp_data(beat_rsp_data)
  );

  myri_pio #(
      .WIDTH(32)
  ) u_pio (
      .clk,
      .rst,
      .to_sram,
      .sram_offset,
      .to_regs,
      .host_reg,
      .host_reg_ready,
      .host_reg_rdata,
      .ctl_valid,
      .ctl_rdata,
      .bell_valid,
      .addr,
      .be,
      .data,
      .in_valid(beat_valid),
      .in_ready(beat_ready),
      .in_beat(beat),
      .to_bell(1'b0),
      .rsp_valid(beat_rsp_valid),
      .rsp_ready(1'b1),
      .rsp_data(beat_rsp_data),
      .sram(pio_sram),
      .sram_gnt(pio_gnt),
      .sram_read(pio_read),
      .ctl_ready(1'b1),
      .bell_ready(1'b1),
      .bell_sram(myri_sram_pkg::SRAM_IDLE),
      .misuse(pio_misuse),
      .wrote(pio_write),
      .busy(pio_busy)
  );

  myri_control_word u_control (
      .clk,
      .rst,
      .lanai_reset,
      .ebus_reset,
      .irq_enable,
      .state,
      .write (ctl_valid && control && be == 4'hF),
      .w_data(value)
  );

  myri_word_dma u_dma (
      .clk,
      .rst,
      .cycle,
      .cfg_start_clocks,
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
      .cmd_valid,
      .cmd_ready,
      .cmd,
      .wr_valid,
      .wr_ready,
      .wr_data,
      .rd_valid,
      .rd_ready,
      .rd,
      .hold_reset(ebus_reset),
      .error(dma_error),
      .misuse(dma_misuse),
      .sram(dma_sram),
      .sram_gnt(dma_gnt),
      .sram_read(dma_read),
      .trace(trace.dma),
      .sleep(dma_sleep)
  );
endmodule
