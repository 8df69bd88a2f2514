// PIO unit, NIC clock side: the card's PCI region, one beat after the other in bus order.
//
// Takes {read, addr, be, data} from the PCI side (addr without the bits within a beat) and does it:
// SRAM window through the arbiter, special registers when the processor leaves them, control registers,
// doorbell region (writes only; reads give 0). Which of them an address means, the card's map says:
// `to_...` for the address shown. The next beat starts when this one is done, so writes land in order
// and a read sees them. Register writes need all four bytes of the first word of a beat; others are
// ignored and flagged by `misuse`. Registers are big-endian on the bus.
// Timing: a write takes one clock when granted, an SRAM read two, a register read one.
module myri_pio #(
    parameter int WIDTH = 64  // bits of a beat and of a word of SRAM, 32 or 64
) (
    input logic clk,  // NIC clock
    input logic rst,  // synchronous reset
    input logic in_valid,  // a beat from the PCI side
    output logic in_ready,  // done at the coming edge
    input logic [WIDTH+WIDTH/8+24-$clog2(WIDTH/8):0] in_data,  // see above
    input logic to_sram,  // map of the card: SRAM at sram_offset,
    input logic [22:0] sram_offset,  // byte address in SRAM of `addr`,
    input logic to_regs,  // special registers,
    input logic to_bell,  // doorbells, else control
    output logic rsp_valid,  // read data to the PCI side
    input logic rsp_ready,  // there is room
    output logic [WIDTH-1:0] rsp_data,  // lanes
    output logic sram_req,  // SRAM request
    input logic sram_gnt,  // granted
    output logic sram_write,  // 1 = write
    output logic [22:0] sram_addr,  // byte address of the word
    output logic [WIDTH-1:0] sram_wdata,  // write data
    output logic [WIDTH/8-1:0] sram_be,  // lanes written
    input logic sram_rvalid,  // read data valid
    input logic [WIDTH-1:0] sram_rdata,  // read data
    output logic host_reg_valid,  // special register access
    input logic host_reg_ready,  // served in this clock
    output logic host_reg_write,  // 1 = write
    output logic [8:0] host_reg_addr,  // offset
    output logic [31:0] host_reg_wdata,  // write data
    input logic [31:0] host_reg_rdata,  // read data, same clock
    output logic ctl_valid,  // control register and pointers: write beat
    input logic ctl_ready,  // taken
    input logic [WIDTH-1:0] ctl_rdata,  // lanes at addr, combinational
    output logic bell_valid,  // doorbell beat
    input logic bell_ready,  // taken
    input logic bell_req,  // the doorbell unit's SRAM request ...
    input logic [22:0] bell_addr,  // ... and address
    input logic [WIDTH-1:0] bell_wdata,  // ... and entry
    output logic [23:0] addr,  // address of the beat, for ctl and bell
    output logic [WIDTH/8-1:0] be,  // its lanes
    output logic [WIDTH-1:0] data,  // its data
    output logic misuse,  // strobe: a register write was ignored
    output logic tr_write,  // trace: a write beat (not a doorbell) has landed at `addr`
    output logic busy  // another edge is needed
);
  localparam int LANE = $clog2(WIDTH / 8);
  logic read;
  logic waiting;  // SRAM read granted, data not yet back
  logic to_ctl;
  logic whole;
  logic done_write;
  logic done_read;

  assign {read, addr[23:LANE], be, data} = in_valid ? in_data : '0;
  assign addr[LANE-1:0] = '0;
  assign to_ctl = !to_sram && !to_bell && !to_regs;
  assign whole = be[3:0] == 4'hF;

  assign sram_req = bell_req || (in_valid && to_sram && (!read || (rsp_ready && !waiting)));
  assign sram_write = bell_req || !read;
  assign sram_addr = bell_req ? bell_addr : sram_offset;
  assign sram_wdata = bell_req ? bell_wdata : data;
  assign sram_be = bell_req ? '1 : be;
  assign host_reg_valid = in_valid && to_regs && (read ? rsp_ready : whole);
  assign host_reg_write = !read;
  assign host_reg_addr = addr[8:0];
  assign host_reg_wdata = {data[7:0], data[15:8], data[23:16], data[31:24]};
  assign ctl_valid = in_valid && to_ctl && !read;
  assign bell_valid = in_valid && to_bell && !read;

  assign done_write = to_sram ? sram_gnt : to_bell ? bell_ready : to_ctl ? ctl_ready :
      host_reg_ready || !whole;
  assign done_read = to_sram ? sram_rvalid : to_regs ? host_reg_ready : rsp_ready;
  assign in_ready = read ? done_read : done_write;
  assign misuse = in_valid && to_regs && !read && !whole;
  assign rsp_valid = in_valid && read && done_read;
  assign rsp_data = to_sram ? sram_rdata : to_ctl ? ctl_rdata : to_bell ? '0 :
      WIDTH'({host_reg_rdata[7:0], host_reg_rdata[15:8], host_reg_rdata[23:16], host_reg_rdata[31:24]});
  assign tr_write = in_valid && !read && done_write && !to_bell && !misuse;
  assign busy = in_valid;

  always_ff @(posedge clk) begin
    if (rst) waiting <= 1'b0;
    else waiting <= in_valid && read && to_sram && sram_req && sram_gnt;
  end
endmodule
