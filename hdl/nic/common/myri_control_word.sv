// Decoder of the commands in the upper byte of a card's control register (fact sheet 3.7): pairs ..._ON, ..._OFF.
//
// Each pair sets a level; the register reads it back in the bits of the command that set it.
// Timing: a write takes effect after the edge that accepts it.
module myri_control_word
  import myri_lanai9_pkg::*;
(
    input  logic        clk,          // NIC clock
    input  logic        rst,          // synchronous reset: LANai in reset, interrupts off
    input  logic        write,        // strobe: the register is written
    input  logic [31:0] w_data,       // value
    output logic        lanai_reset,  // level: LANai in reset
    output logic        ebus_reset,   // level: DMA engine in reset
    output logic        irq_enable,   // level: INTA# may be driven
    output logic [ 7:0] state         // read back, bits 31:24
);
  logic board_reset_q;
  logic unused_ok;

  assign unused_ok = ^w_data;
  assign state = {
    !lanai_reset,
    lanai_reset,
    !ebus_reset,
    ebus_reset,
    !board_reset_q,
    board_reset_q,
    irq_enable,
    !irq_enable
  };

  always_ff @(posedge clk) begin
    if (rst) begin
      lanai_reset <= 1'b1;
      {ebus_reset, board_reset_q, irq_enable} <= 3'd0;
    end else if (write) begin
      if (w_data[CTL_LANAI_RESET_ON]) lanai_reset <= 1'b1;
      if (w_data[CTL_LANAI_RESET_OFF]) lanai_reset <= 1'b0;
      if (w_data[CTL_EBUS_RESET_ON]) ebus_reset <= 1'b1;
      if (w_data[CTL_EBUS_RESET_OFF]) ebus_reset <= 1'b0;
      if (w_data[CTL_BOARD_RESET_ON]) board_reset_q <= 1'b1;
      if (w_data[CTL_BOARD_RESET_OFF]) board_reset_q <= 1'b0;
      if (w_data[CTL_IRQ_DISABLE]) irq_enable <= 1'b0;
      if (w_data[CTL_IRQ_ENABLE]) irq_enable <= 1'b1;
    end
  end
endmodule
