// Host side of the SP adapter in the NIC clock: PIO into the SRAM, doorbells, control register.
//
// Map of the card (pymodels/nics/sp/registers.py): SRAM, the control register, and with cfg_doorbell a doorbell region,
// whose stores become entries of a FIFO in SRAM, as on a LANai 9. A store elsewhere is ignored and flagged by `misuse`;
// a load elsewhere returns 0. Every SRAM access crosses the internal bus.
// Timing: that of myri_pio, when the bus is granted.
module sp_host
  import myri_nic_engines_pkg::*;
  import myri_nic_trace_pkg::*;
  import myri_sram_pkg::*;
  import sp_adapter_pkg::*;
(
    input logic clk,  // NIC clock
    input logic rst,  // synchronous reset
    input logic cfg_doorbell,  // 1 = the adapter has doorbells
    input logic pio_valid,  // PIO stream
    output logic pio_ready,  // accepted
    input pio_beat_t pio,  // beat
    output logic rsp_valid,  // read answer
    input logic rsp_ready,  // accepted
    output logic [63:0] rsp_data,  // byte lanes
    output sram_request_t sram,  // SRAM and internal bus: request
    input logic sram_gnt,  // grant
    input logic [63:0] sram_rdata,  // read data, one clock later
    input logic w_consumer,  // write of BELL_CONSUMER (value in w_data)
    input logic w_base,  // write of BELL_BASE
    input logic [31:0] w_data,  // value of both
    output logic [16:0] producer,  // of the doorbell FIFO
    output logic [16:0] consumer,  // of the doorbell FIFO
    output logic [23:0] base,  // its place in SRAM
    output logic [31:0] overflows,  // entries dropped
    output logic set_bell,  // strobe: an entry is in SRAM
    output logic bell_overflow,  // strobe: an entry was dropped
    input logic irq,  // level, for the control register
    output logic clear_irq,  // strobe: the host clears the interrupt
    output logic misuse,  // strobe: a store to an unmapped address
    output pio_trace_t pio_trace,  // clk: of PIO and doorbells
    output logic busy  // 1 = a further clock edge is needed
);
  logic to_sram, to_bell, ctl_valid, control, bell_valid, bell_ready, bell_busy, pio_busy;
  sram_request_t bell_sram;
  sram_read_t sram_read;
  logic [63:0] data;
  logic [23:0] addr;
  logic [7:0] be;
  logic pio_misuse, read_q;
  logic [3:0][23:0] bases;
  logic [3:0][16:0] producers, consumers;
  bell_trace_t bell_trace;
  logic wrote;
  reg_request_t unmapped;  // the card has no special registers for the host
  logic unused_ok;

  assign sram_read.valid = read_q;
  assign sram_read.data = sram_rdata;
  assign to_sram = !addr[23];
  assign to_bell = cfg_doorbell && {1'b0, addr} >= PCI_DOORBELL;
  assign control = {1'b0, addr} == PCI_CONTROL;
  assign clear_irq = ctl_valid && control && be[3] && data[24+CTL_INTERRUPT];
  assign misuse = ctl_valid && !control;
  assign pio_trace = {wrote, addr, bell_trace};
  assign base = bases[0];
  assign producer = producers[0];
  assign consumer = consumers[0];
  assign busy = pio_busy || bell_busy;
  assign unused_ok = ^{unmapped, pio_misuse, bases[3:1], producers[3:1], consumers[3:1], w_data[31:24]};

  always_ff @(posedge clk) begin
    if (rst) read_q <= 1'b0;
    else read_q <= sram_gnt && !sram.write;
  end

  myri_pio u_pio (
      .clk,
      .rst,
      .to_sram,
      .to_bell,
      .rsp_valid,
      .rsp_ready,
      .rsp_data,
      .sram,
      .sram_gnt,
      .sram_read,
      .ctl_valid,
      .bell_valid,
      .bell_ready,
      .bell_sram,
      .addr,
      .be,
      .data,
      .in_valid(pio_valid),
      .in_ready(pio_ready),
      .in_beat(pio),
      .sram_offset(addr[22:0]),
      .to_regs(1'b0),
      .host_reg(unmapped),
      .host_reg_ready(1'b1),
      .host_reg_rdata(32'd0),
      .ctl_ready(1'b1),
      .ctl_rdata(control ? {32'd0, 7'd0, irq, 24'd0} : 64'd0),
      .misuse(pio_misuse),
      .wrote,
      .busy(pio_busy)
  );

  myri_doorbell u_bell (
      .clk,
      .rst,
      .sram_gnt,
      .overflows,
      .size(3'd0),
      .multi(1'b0),
      .w_base({3'd0, w_base}),
      .w_base_data(w_data[23:0]),
      .w_consumer({3'd0, w_consumer}),
      .w_data(w_data[16:0]),
      .base(bases),
      .producer(producers),
      .consumer(consumers),
      .in_valid(bell_valid),
      .in_ready(bell_ready),
      .in_addr(addr),
      .in_be(be),
      .in_data(data),
      .sram(bell_sram),
      .wake(set_bell),
      .overflow(bell_overflow),
      .trace(bell_trace),
      .busy(bell_busy)
  );
endmodule
