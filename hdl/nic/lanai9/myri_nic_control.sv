// Control register and pointer bank of the card (fact sheet 3.7), NIC clock side.
//
// Takes beats of the PCI offsets 0x800000..0x803FFF, one 32-bit half per clock. The upper bits of the control register
// are commands in pairs (…_ON, …_OFF) and the chain triggers; the register reads back the state in the same bits, and
// FIFO size, multi-queue and limit-check enable. Pointers 0..3 are the current blocks of the DMA chains, 4..7 the bases
// of the doorbell FIFOs; 8..15 have no function. The doorbell limit check is only stored, because the location of its
// table is not known. Registers are big-endian.
// Timing: a write takes effect after the edge that accepts it; read data in the clock of the request.
module myri_nic_control
  import myri_lanai9_pkg::*;
(
    input logic clk,  // NIC clock
    input logic rst,  // synchronous reset: LANai in reset, interrupts off
    input logic in_valid,  // a write beat for this region
    output logic in_ready,  // accepted at the coming edge
    input logic [13:0] in_addr,  // offset from 0x800000, multiple of 8
    input logic [7:0] in_be,  // lanes written
    input logic [63:0] in_data,  // lanes; also of reads: in_addr selects rdata
    output logic [63:0] rdata,  // lanes at in_addr
    input logic [SIZE_CHAINS-1:0][23:0] dma_list,  // current block of each chain, read back
    input logic [SIZE_DOORBELL_FIFOS-1:0][23:0] base,  // of each doorbell FIFO, read back
    output logic [3:0] trigger,  // strobes: start or continue chain k
    output logic [3:0] w_list,  // strobes: load the current block of chain k
    output logic [3:0] w_base,  // strobes: load the base of doorbell FIFO k
    output logic [31:0] w_data,  // value of both
    output logic lanai_reset,  // level: LANai in reset
    output logic ebus_reset,  // level: DMA engine in reset
    output logic irq_enable,  // level: INTA# may be driven
    output logic [2:0] fifo_size,  // doorbell FIFO size field
    output logic multi_queue  // four doorbell FIFOs
);
  logic        low_done_q;  // the lower half of this beat is done
  logic        high;
  logic        last;
  logic        write;  // all four bytes of the half are written
  logic [13:0] addr;
  logic [31:0] lanes;
  logic        control;
  logic        pointer;
  logic        limit_check_q;
  logic [31:0] state;
  logic [ 7:0] commands;
  logic [23:0] low_pointer;
  logic [23:0] high_pointer;


  assign high = low_done_q || in_be[3:0] == 4'd0;
  assign last = high || in_be[7:4] == 4'd0;
  assign in_ready = last;
  assign lanes = high ? in_data[63:32] : in_data[31:0];
  assign write = in_valid && (high ? in_be[7:4] == 4'hF : in_be[3:0] == 4'hF);
  assign addr = {in_addr[13:3], high, 2'b00};
  assign w_data = {lanes[7:0], lanes[15:8], lanes[23:16], lanes[31:24]};
  assign control = write && addr == PCI_CONTROL[13:0];
  assign pointer = write && addr[13:5] == PCI_POINTERS[13:5];
  assign trigger = control ? w_data[CTL_TRIGGER3:CTL_TRIGGER0] : 4'd0;
  assign w_list = (pointer && !addr[4]) ? 4'd1 << addr[3:2] : 4'd0;
  assign w_base = (pointer && addr[4]) ? 4'd1 << addr[3:2] : 4'd0;

  always_ff @(posedge clk) begin
    if (rst) begin
      low_done_q <= 1'b0;
      fifo_size <= 3'd0;
      multi_queue <= 1'b0;
      limit_check_q <= 1'b0;
    end else begin
      if (in_valid) low_done_q <= !last;
      if (control) begin
        fifo_size <= w_data[2:0];
        multi_queue <= w_data[CTL_MULTI_QUEUE];
        limit_check_q <= w_data[CTL_LIMIT_CHECK];
      end
    end
  end

  myri_control_word u_word (
      .clk,
      .rst,
      .w_data,
      .lanai_reset,
      .ebus_reset,
      .irq_enable,
      .write(control),
      .state(commands)
  );

  // Read back.
  assign state = {commands, 19'd0, limit_check_q, multi_queue, fifo_size};
  assign low_pointer = in_addr[4] ? base[{in_addr[3], 1'b0}] : dma_list[{in_addr[3], 1'b0}];
  assign high_pointer = in_addr[4] ? base[{in_addr[3], 1'b1}] : dma_list[{in_addr[3], 1'b1}];
  assign rdata = (in_addr[13:3] == PCI_CONTROL[13:3]) ? {32'd0, swap(
      state
  )} : (in_addr[13:3] == 11'd0) ? {32'd0, 16'(SIZE_DEVICE_ID), 16'(SIZE_VENDOR_ID)} :
      (in_addr[13:5] == PCI_POINTERS[13:5]) ? {swap(
      {8'd0, high_pointer}
  ), swap(
      {8'd0, low_pointer}
  )} : 64'd0;

  logic unused_ok;
  assign unused_ok = ^in_addr[2:0];

  function automatic logic [31:0] swap(input logic [31:0] x);
    return {x[7:0], x[15:8], x[23:16], x[31:24]};
  endfunction
endmodule
