// Host accesses of the FIFO card: memory, the two cell windows, registers.
//
// A window maps a place of the card's memory: CELL_OUT the next free slot of the cells to send, CELL_IN the oldest
// received cell. A cell to send begins with the first word of CELL_OUT, which needs a free slot; `put` submits it with
// its last byte. A store without a free slot, or without the first word, is dropped and flagged.
// Timing: see myri_pio; the memory port is the host's own.
module myri_fifo_card_host
  import myri_nic_engines_pkg::*;
  import myri_fifo_card_pkg::*;
  import myri_sram_pkg::*;
(
    input logic clk,  // NIC clock
    input logic rst,  // synchronous reset
    input logic pio_valid,  // PIO stream
    output logic pio_ready,  // accepted
    input pio_beat_t pio,  // beat
    output logic rsp_valid,  // read answer
    input logic rsp_ready,  // accepted
    output logic [63:0] rsp_data,  // byte lanes
    output sram_request_t mem,  // memory: access
    input logic [63:0] mem_rdata,  // read data, one clock later
    input logic cells,  // the card's form
    input logic out_full,  // no slot is free for a cell to send
    input logic [22:0] out_slot,  // its value
    input logic [22:0] in_slot,  // slot of the oldest received cell
    output logic put,  // strobe: a cell to send is complete
    output logic out_dropped,  // strobe: a store to CELL_OUT is dropped
    output logic begun,  // a cell to send is incomplete
    output logic ctl,  // strobe: a store outside memory and window
    output logic [23:0] addr,  // offset of the current beat
    output logic [7:0] be,  // byte lanes
    output logic [31:0] value,  // its first word
    input logic [31:0] rvalue,  // read data for a load at addr
    output logic wrote,  // strobe: a store has taken effect at addr
    output logic busy  // 1 = a further clock edge is needed
);
  localparam int SLOT_LOG2 = $clog2(SIZE_SLOT);
  localparam logic [SLOT_LOG2-1:3] LAST = 3'((SIZE_CELL_PAYLOAD + SIZE_PAYLOAD) / 8 - 1);
  logic at_out, at_in, first, goes, to_sram, rvalid_q, read, unused_ok;
  logic bell_valid, reg_misuse;
  reg_request_t unmapped;  // the card has no special registers
  logic [22:0] offset;
  logic [63:0] data;

  assign read = pio_valid && pio.read;
  assign at_out = cells && addr[23:SLOT_LOG2] == PCI_CELL_OUT[23:SLOT_LOG2];
  assign at_in = cells && addr[23:SLOT_LOG2] == PCI_CELL_IN[23:SLOT_LOG2];
  assign first = addr[SLOT_LOG2-1:3] == '0;
  assign goes = first ? !out_full : begun;
  assign to_sram = !addr[23] || (at_out && !read && goes) || (at_in && read);
  assign offset = at_out ? {out_slot[22:SLOT_LOG2], addr[SLOT_LOG2-1:0]} :
      at_in ? {in_slot[22:SLOT_LOG2], addr[SLOT_LOG2-1:0]} : addr[22:0];
  assign put = mem.req && mem.write && at_out && addr[SLOT_LOG2-1:3] == LAST && be[7];
  assign out_dropped = ctl && at_out;
  assign value = {data[7:0], data[15:8], data[23:16], data[31:24]};
  assign unused_ok = ^{
    out_slot[SLOT_LOG2-1:0],
    in_slot[SLOT_LOG2-1:0],
    data[63:32],
    bell_valid,
    unmapped,
    reg_misuse
  };

  always_ff @(posedge clk) begin
    if (rst) begin
      {rvalid_q, begun} <= 2'b00;
    end else begin
      rvalid_q <= mem.req && !mem.write;
      if (mem.req && mem.write && at_out && first) begun <= 1'b1;
      else if (put || (out_dropped && first)) begun <= 1'b0;
    end
  end

  myri_pio u_pio (
      .clk,
      .rst,
      .to_sram,
      .rsp_valid,
      .rsp_ready,
      .rsp_data,
      .bell_valid,
      .addr,
      .be,
      .data,
      .busy,
      .in_valid(pio_valid),
      .in_ready(pio_ready),
      .in_beat(pio),
      .sram_offset(offset),
      .to_regs(1'b0),
      .to_bell(1'b0),
      .sram(mem),
      .sram_gnt(mem.req),
      .sram_read({rvalid_q, mem_rdata}),
      .host_reg(unmapped),
      .host_reg_ready(1'b1),
      .host_reg_rdata(32'd0),
      .ctl_valid(ctl),
      .ctl_ready(1'b1),
      .ctl_rdata({32'd0, rvalue[7:0], rvalue[15:8], rvalue[23:16], rvalue[31:24]}),
      .bell_ready(1'b1),
      .bell_sram(myri_sram_pkg::SRAM_IDLE),
      .misuse(reg_misuse),
      .wrote
  );
endmodule
