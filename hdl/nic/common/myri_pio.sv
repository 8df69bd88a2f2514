// PIO unit, NIC clock side: executes the beats of the card's PCI region one after the other, in bus order.
//
// Takes accesses from the PCI side and executes them: SRAM window
// through the arbiter, special registers in clocks without an access of the processor, control registers, doorbell
// region (writes only; reads return 0). The card's address decoder (`to_...`, for the current address) selects the
// region. A beat starts after the previous one is done, so writes take effect in order and a read sees earlier writes.
// Register writes need all four bytes of the first word of a beat; others are ignored and flagged by `misuse`.
// Registers are big-endian on the bus.
// Timing: a write takes one clock when granted, an SRAM read two, a register read one.
module myri_pio
  import myri_nic_engines_pkg::*;
  import myri_sram_pkg::*;
#(
    parameter int WIDTH = 64  // bits of a beat and of a word of SRAM, 32 or 64
) (
    input logic clk,  // NIC clock
    input logic rst,  // synchronous reset
    input logic in_valid,  // a beat from the PCI side
    output logic in_ready,  // finished at the coming edge
    input pio_beat_t in_beat,  // beat
    input logic to_sram,  // address decoder of the card: SRAM at sram_offset,
    input logic [22:0] sram_offset,  // byte address in SRAM of `addr`,
    input logic to_regs,  // special registers,
    input logic to_bell,  // doorbells; otherwise control
    output logic rsp_valid,  // read data to the PCI side
    input logic rsp_ready,  // 1 = a beat can be accepted
    output logic [WIDTH-1:0] rsp_data,  // byte lanes
    output sram_request_t sram,  // SRAM request
    input logic sram_gnt,  // grant
    input sram_read_t sram_read,  // read data
    output reg_request_t host_reg,  // special registers: access of the host
    input logic host_reg_ready,  // access done in this clock
    input logic [31:0] host_reg_rdata,  // read data, same clock
    output logic ctl_valid,  // control register and pointers: write beat
    input logic ctl_ready,  // accepted
    input logic [WIDTH-1:0] ctl_rdata,  // lanes at addr, combinational
    output logic bell_valid,  // doorbell beat
    input logic bell_ready,  // accepted
    input sram_request_t bell_sram,  // the doorbell unit's SRAM request
    output logic [23:0] addr,  // address of the beat, for ctl and bell
    output logic [WIDTH/8-1:0] be,  // byte lanes
    output logic [WIDTH-1:0] data,  // its data
    output logic misuse,  // strobe: a register write was ignored
    output logic wrote,  // strobe: a write beat (not a doorbell) has taken effect at `addr`
    output logic busy  // 1 = a further clock edge is needed
);
  pio_beat_t beat;
  logic read;
  logic waiting_q;  // SRAM read granted, data not yet back
  logic to_ctl;
  sram_request_t own;  // of a beat
  logic whole;
  logic done_write;
  logic done_read;

  assign beat = in_valid ? in_beat : '0;
  assign read = beat.read;
  assign addr = {beat.word, 2'b00};
  assign be = beat.be[WIDTH/8-1:0];
  assign data = beat.data[WIDTH-1:0];
  assign to_ctl = !to_sram && !to_bell && !to_regs;
  assign whole = be[3:0] == 4'hF;

  assign own.req = in_valid && to_sram && (!read || (rsp_ready && !waiting_q));
  assign own.write = !read;
  assign own.addr = sram_offset;
  assign own.be = 8'(be);
  assign own.wdata = 64'(data);
  assign sram = bell_sram.req ? bell_sram : own;
  assign host_reg.valid = in_valid && to_regs && (read ? rsp_ready : whole);
  assign host_reg.write = !read;
  assign host_reg.addr = addr[8:0];
  assign host_reg.wdata = {data[7:0], data[15:8], data[23:16], data[31:24]};
  assign ctl_valid = in_valid && to_ctl && !read;
  assign bell_valid = in_valid && to_bell && !read;

  assign done_write = to_sram ? sram_gnt : to_bell ? bell_ready : to_ctl ? ctl_ready :
      host_reg_ready || !whole;
  assign done_read = to_sram ? sram_read.valid : to_regs ? host_reg_ready : rsp_ready;
  assign in_ready = read ? done_read : done_write;
  assign misuse = in_valid && to_regs && !read && !whole;
  assign rsp_valid = in_valid && read && done_read;
  assign rsp_data = to_sram ? sram_read.data[WIDTH-1:0] : to_ctl ? ctl_rdata : to_bell ? '0 :
      WIDTH'({host_reg_rdata[7:0], host_reg_rdata[15:8], host_reg_rdata[23:16], host_reg_rdata[31:24]});
  assign wrote = in_valid && !read && done_write && !to_bell && !misuse;
  assign busy = in_valid;

  always_ff @(posedge clk) begin
    if (rst) waiting_q <= 1'b0;
    else waiting_q <= in_valid && read && to_sram && sram.req && sram_gnt;
  end
endmodule
