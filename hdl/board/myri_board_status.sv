// Register STATUS of a node: levels, and sticky bits of errors (pymodels/board/map.py).
//
// Timing: a bit is set at the edge after its strobe, and cleared by `clear` unless the strobe comes in the same clock.
module myri_board_status
  import myri_board_pkg::*;
  import myri_nic_trace_pkg::*;
(
    input logic clk,  // NIC clock
    input logic rst,  // synchronous reset
    input logic clear,  // strobe: clear the sticky bits
    input logic lanai_reset,  // level: the host holds the LANai in reset
    input logic intr,  // level: INTA#
    input nic_status_t nic,  // strobes of the NIC
    input logic pio_error,  // strobe: a transaction of the host has failed
    input logic beyond,  // strobe: DMA to host memory that does not exist
    output logic [31:0] status  // the register
);
  logic [31:0] strobes, sticky_q;

  always_comb begin : collection
    logic [31:0] seen, levels;
    seen = 32'd0;
    seen[STATUS_DMA_ERROR] = nic.dma_error;
    seen[STATUS_RX_LOST] = nic.rx_lost;
    seen[STATUS_SEND_MISUSE] = nic.send_misuse;
    seen[STATUS_PIO_MISUSE] = nic.pio_misuse;
    seen[STATUS_PIO_ERROR] = pio_error;
    seen[STATUS_MEMORY_BEYOND] = beyond;
    levels = sticky_q;
    levels[STATUS_IN_RESET] = lanai_reset;
    levels[STATUS_INTERRUPT] = intr;
    strobes = seen;
    status = levels;
  end

  always_ff @(posedge clk) begin
    if (rst) sticky_q <= 32'd0;
    else sticky_q <= (clear ? 32'd0 : sticky_q) | strobes;
  end

  logic unused;
  assign unused = nic.doorbell_overflow;
endmodule
