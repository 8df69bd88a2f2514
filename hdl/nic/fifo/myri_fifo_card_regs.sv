// Registers of the FIFO card: form, errors, interrupt, status, and strobes for the parts.
//
// `ctl` is a store outside memory and windows: a whole register, or an error. A new form takes effect while the card is
// empty; it removes all buffers from the pool. Timing: read in the same clock, written one clock later. State changes
// only with a store, or with an indication of a part.
module myri_fifo_card_regs
  import myri_fifo_card_pkg::*;
(
    input logic clk,  // NIC clock
    input logic rst,  // synchronous reset
    input logic ctl,  // strobe: a store
    input logic [23:0] addr,  // offset of the current beat, multiple of 8
    input logic [7:0] be,  // with ctl: its lanes
    input logic [31:0] value,  // with ctl: its first word
    output logic [31:0] rvalue,  // read data for a load at addr
    output logic cells,  // the form
    input logic empty,  // the card holds no packet or cell
    output logic renew,  // strobe: MODE takes effect and the pool is refilled
    input logic send_idle,  // no packet or cell is left to be sent
    input logic [7:0] send_level,  // buffers or cells that wait to be sent
    input logic [8:0] receive_level,  // packets or cells that have arrived
    input logic [7:0] free_level,  // buffers in the pool
    input logic [31:0] ready,  // RX_READY
    input logic tx_room,  // TX_READY can accept another entry
    input logic out_dropped,  // strobe: a store to CELL_OUT found no room
    input logic no_number,  // strobe: RX_FREE with an invalid buffer number
    input logic pooled,  // strobe: RX_FREE of a buffer already in the pool
    input logic bad_descriptor,  // strobe: a buffer was not sent
    input logic cell_refused,  // strobe: a cell was rejected
    output logic tx_push,  // strobe: `value` is the number of a buffer to send
    output logic give,  // strobe: `value` is the number of a buffer for the pool
    output logic ready_next,  // strobe: release the packet at the head
    output logic cell_next,  // strobe: release the cell at the head
    output logic irq,  // level: interrupt request
    output logic host_misuse,  // strobe: an access of the host was rejected
    output logic busy  // 1 = a further clock edge is needed
);
  localparam int ERRORS = ERR_PIO + 1;
  logic whole, w_tx, w_free, w_next, w_cell, w_mode, known, no_buffer, ask_q;
  logic arrived, tx_full;
  logic [ERRORS-1:0] errors_q, raised;
  logic [31:0] status, dropped_q;

  assign whole = ctl && be == 8'h0F;
  assign w_mode = whole && {1'b0, addr} == PCI_MODE;
  assign w_tx = whole && {1'b0, addr} == PCI_TX_READY;
  assign w_free = whole && {1'b0, addr} == PCI_RX_FREE;
  assign w_next = whole && {1'b0, addr} == PCI_RX_NEXT;
  assign w_cell = whole && {1'b0, addr} == PCI_CELL_NEXT;
  assign renew = w_mode && empty;
  assign known = w_mode || w_tx || w_free || w_next || w_cell ||
      (whole && ({1'b0, addr} == PCI_INTERRUPT || {1'b0, addr} == PCI_ERRORS));

  assign no_buffer = value == 32'd0 || value >= 32'(SIZE_BUFFERS);
  assign tx_full = w_tx && !cells && !no_buffer && !tx_room;
  assign tx_push = w_tx && !cells && !no_buffer && tx_room;
  assign give = w_free && !cells;
  assign arrived = receive_level != 9'd0;
  assign ready_next = w_next && !cells && arrived;
  assign cell_next = w_cell && cells && arrived;
  assign irq = ask_q && arrived;

  assign status = (32'(arrived) << STATUS_ARRIVED) | (32'(send_idle) << STATUS_IDLE) |
      (32'(errors_q != '0) << STATUS_ERROR) | (32'(cells) << STATUS_CELLS) |
      (32'(send_level) << STATUS_SEND_LEVEL) | (32'(receive_level) << STATUS_RECEIVE_LEVEL);
  assign raised = (ERRORS'(tx_full) << ERR_TX_FULL) |
      (ERRORS'(no_number || (w_tx && !cells && no_buffer)) << ERR_NUMBER) |
      (ERRORS'(bad_descriptor) << ERR_DESCRIPTOR) | (ERRORS'(pooled) << ERR_POOLED) |
      (ERRORS'((w_next && !ready_next) || (w_cell && !cell_next)) << ERR_NEXT) |
      (ERRORS'(out_dropped) << ERR_OUT_FULL) | (ERRORS'(cell_refused) << ERR_CELL) |
      (ERRORS'((w_mode && !empty) || ((w_tx || w_free) && cells)) << ERR_MODE) |
      (ERRORS'(ctl && !known && !out_dropped) << ERR_PIO);
  assign host_misuse = (raised & ~(ERRORS'(1) << ERR_CELL)) != '0;
  assign busy = ctl || raised != '0;

  always_comb begin
    case ({
      1'b0, addr
    })
      PCI_STATUS: rvalue = status;
      PCI_MODE: rvalue = {31'd0, cells};
      PCI_INTERRUPT: rvalue = {31'd0, ask_q};
      PCI_ERRORS: rvalue = 32'(errors_q);
      PCI_RX_FREE: rvalue = {24'd0, free_level};
      PCI_RX_READY: rvalue = ready;
      PCI_DROPPED: rvalue = dropped_q;
      default: rvalue = 32'd0;
    endcase
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      {cells, ask_q, errors_q, dropped_q} <= '0;
    end else begin
      if (renew) cells <= value[0];
      if (whole && {1'b0, addr} == PCI_INTERRUPT) ask_q <= value[0];
      errors_q <= (errors_q & ~(whole && {1'b0, addr} == PCI_ERRORS ? value[ERRORS-1:0] : '0)) | raised;
      if (cell_refused) dropped_q <= dropped_q + 32'd1;
    end
  end
endmodule
