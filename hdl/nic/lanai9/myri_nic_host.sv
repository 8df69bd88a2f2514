// Host side of the NIC in the NIC clock: PIO unit, control register and pointers, doorbells, DMA chains.
//
// Timing: see the parts. SRAM requests: `pio` carries PIO and doorbell entries, `dma` the chains.
module myri_nic_host
  import myri_pci_pkg::*;
  import myri_nic_engines_pkg::*;
  import myri_sleep_pkg::*;
  import myri_nic_trace_pkg::*;
  import myri_sram_pkg::*;
  import myri_lanai9_pkg::*;
(
    input  logic         pio_clk,           // NIC clock of PIO and doorbells; edges with pio_needed = 0 may be skipped
    input logic dma_clk,  // NIC clock of the DMA chains; edges with dma_needed = 0 may be skipped
    input logic rst,  // synchronous reset
    input logic [47:0] cycle,  // index of the coming edge
    input logic [15:0] cfg_start_clocks,  // start-up of a DMA block
    input logic pio_valid,  // PIO stream
    output logic pio_ready,  // accepted
    input pio_beat_t pio,  // beat
    output logic rsp_valid,  // read answer
    input logic rsp_ready,  // accepted
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
    input logic [3:0] reg_pulse,  // PULSE written
    input logic [3:0] reg_w_list,  // DMA_LISTk written
    input logic [3:0] w_consumer,  // DOORBELL_CONSUMERk written
    input logic [23:0] reg_w_data,  // value of both
    output logic [SIZE_CHAINS-1:0][23:0] dma_list,  // to the registers
    output logic [SIZE_CHAINS-1:0][31:0] dma_progress,  // DMA_PROGRESSk
    output logic [31:0] dma_status,  // DMA_STATUS
    output logic [SIZE_DOORBELL_FIFOS-1:0][16:0] producer,  // DOORBELL_PRODUCERk
    output logic [SIZE_DOORBELL_FIFOS-1:0][16:0] consumer,  // DOORBELL_CONSUMERk
    output logic [31:0] overflows,  // DOORBELL_OVERFLOWS
    output logic [1:0] set_wake,  // strobes: WAKE1, WAKE2
    output logic bell_wake,  // strobe: WAKE0, an entry is stored
    output logic bell_overflow,  // strobe: an entry was dropped
    output logic dma_error,  // strobe: a chain stopped by an error ...
    output logic [1:0] dma_chain,  // ... this chain
    output logic pio_misuse,  // strobe: a register write was ignored
    output logic lanai_reset,  // control register
    output logic irq_enable,  // control register
    output sram_request_t pio_sram,  // SRAM: PIO
    input logic pio_gnt,  // grant
    input sram_read_t pio_read,  // read data
    output sram_request_t dma_sram,  // SRAM: host DMA
    input logic dma_gnt,  // grant
    input sram_read_t dma_read,  // read data
    output host_trace_t trace,  // events of this clock
    output sleep_t sleep,  // when the NIC clock must run
    output logic pio_needed,  // 1 = the coming edge of pio_clk is needed
    output logic dma_needed  // 1 = the coming edge of dma_clk is needed
);
  logic ctl_valid, ctl_ready, ctl_taken, bell_valid, bell_ready;
  sram_request_t bell_sram;
  logic [63:0] ctl_rdata, data;
  logic [23:0] addr;
  logic [7:0] be;
  logic [SIZE_DOORBELL_FIFOS-1:0][23:0] base;
  logic [3:0] trigger, w_list, w_base;
  logic [31:0] w_pointer;
  logic ebus_reset, multi_queue, to_regs, to_bell;
  logic [2:0] fifo_size;
  logic pio_busy, bell_busy, pio_write, busy;
  sleep_t dma_sleep;
  bell_trace_t bell_trace;

  logic unused_ok;
  assign unused_ok = ^w_pointer[31:24];

  // Address decoder of the card.
  assign to_bell = {1'b0, addr} >= PCI_DOORBELL;
  assign to_regs = {1'b0, addr} >= PCI_REGISTERS && !to_bell;

  // A load of a chain by the processor has priority.
  assign ctl_ready = ctl_taken && reg_w_list == 4'd0;
  assign trace.pio = {pio_write, addr, bell_trace};
  assign sleep = {busy, busy, dma_sleep.in_flight, dma_sleep.alarm};
  assign busy = pio_busy || bell_busy || dma_sleep.busy;
  assign pio_needed = pio_busy || bell_busy;
  assign dma_needed = dma_sleep.needed;

  myri_pio u_pio (
      .rst,
      .to_regs,
      .to_bell,
      .rsp_valid,
      .rsp_ready,
      .rsp_data,
      .host_reg,
      .host_reg_ready,
      .host_reg_rdata,
      .ctl_valid,
      .ctl_ready,
      .ctl_rdata,
      .bell_valid,
      .bell_ready,
      .bell_sram,
      .addr,
      .be,
      .data,
      .clk(pio_clk),
      .in_valid(pio_valid),
      .in_ready(pio_ready),
      .in_beat(pio),
      .to_sram(!addr[23]),
      .sram_offset(addr[22:0]),
      .sram(pio_sram),
      .sram_gnt(pio_gnt),
      .sram_read(pio_read),
      .misuse(pio_misuse),
      .wrote(pio_write),
      .busy(pio_busy)
  );

  myri_nic_control u_control (
      .rst,
      .dma_list,
      .base,
      .trigger,
      .w_list,
      .w_base,
      .lanai_reset,
      .ebus_reset,
      .irq_enable,
      .fifo_size,
      .multi_queue,
      .clk(pio_clk),
      .in_valid(ctl_valid && reg_w_list == 4'd0),
      .in_ready(ctl_taken),
      .in_addr(addr[13:0]),
      .in_be(be),
      .in_data(data),
      .rdata(ctl_rdata),
      .w_data(w_pointer)
  );

  myri_doorbell u_doorbell (
      .rst,
      .w_base,
      .w_consumer,
      .base,
      .producer,
      .consumer,
      .overflows,
      .clk(pio_clk),
      .size(fifo_size),
      .multi(multi_queue),
      .w_base_data(w_pointer[23:0]),
      .w_data(reg_w_data[16:0]),
      .in_valid(bell_valid),
      .in_ready(bell_ready),
      .in_addr(addr),
      .in_be(be),
      .in_data(data),
      .sram(bell_sram),
      .sram_gnt(pio_gnt),
      .wake(bell_wake),
      .overflow(bell_overflow),
      .trace(bell_trace),
      .busy(bell_busy)
  );

  myri_host_dma u_dma (
      .rst,
      .cycle,
      .cfg_start_clocks,
      .set_wake,
      .cmd_valid,
      .cmd_ready,
      .cmd,
      .wr_valid,
      .wr_ready,
      .wr_data,
      .rd_valid,
      .rd_ready,
      .rd,
      .clk(dma_clk),
      .hold_reset(ebus_reset),
      .pulse(reg_pulse | trigger),
      .w_list(reg_w_list | w_list),
      .w_data((w_list != 4'd0) ? w_pointer[23:0] : reg_w_data),
      .list(dma_list),
      .progress(dma_progress),
      .status(dma_status),
      .error(dma_error),
      .chain(dma_chain),
      .sram(dma_sram),
      .sram_gnt(dma_gnt),
      .sram_read(dma_read),
      .trace(trace.dma),
      .sleep(dma_sleep)
  );
endmodule
