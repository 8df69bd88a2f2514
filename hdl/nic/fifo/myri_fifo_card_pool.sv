// Receive pool: the free list of buffers, and the FIFO of received packets.
//
// `give` returns a buffer to the pool; an invalid number, or that of a buffer already in the pool, is rejected. The
// oldest buffer is offered to the receive side, which keeps it until its packet is complete: `arrive` moves it to the
// FIFO of received packets, and `next` advances to the next packet. Neither FIFO can overflow, because no buffer is in
// them twice.
// Timing: see myri_fifo; rejection in the clock of the strobe. State changes only with strobes.
module myri_fifo_card_pool
  import myri_fifo_card_pkg::*;
(
    input logic clk,  // NIC clock
    input logic rst,  // synchronous reset, empties both
    input logic give,  // strobe: return a buffer to the pool
    input logic [31:0] number,  // number of the buffer
    output logic no_number,  // with give: the number is invalid
    output logic pooled,  // with give: the buffer is already in the pool
    output logic free_valid,  // a buffer is free for reception
    output logic [6:0] free_number,  // number
    output logic [7:0] free_level,  // number of buffers in the pool
    input logic arrive,  // strobe: the packet in that buffer is complete
    input fifo_arrival_t arrived_as,  // with it: the packet
    output logic [31:0] ready,  // RX_READY: the oldest received packet, 0 if there is none
    output logic [7:0] ready_level,  // number of buffers in the pool
    input logic next  // strobe: release that packet; not at level 0
);
  localparam int NUMBER_BITS = $clog2(SIZE_BUFFERS);
  logic [SIZE_BUFFERS-1:0] held_q;  // buffers in the pool, including the one being filled
  logic given, r_valid;
  fifo_arrived_t arrived, oldest;
  fifo_ready_t shown;
  logic unused_ok;  // neither FIFO can be full; busy is that of who strobes

  assign no_number = give && (number[NUMBER_BITS-1:0] == '0 || number[31:NUMBER_BITS] != '0);
  assign pooled = give && !no_number && held_q[number[NUMBER_BITS-1:0]];
  assign given = give && !no_number && !pooled;
  assign arrived.arrival = arrived_as;
  assign arrived.number = free_number;
  assign shown = {
    1'b1,
    oldest.arrival.bad_crc,
    oldest.arrival.too_long,
    6'd0,
    oldest.number,
    4'd0,
    oldest.arrival.bytes
  };
  assign ready = r_valid ? shown : '0;

  myri_fifo #(
      .WIDTH(NUMBER_BITS),
      .DEPTH_LOG2(NUMBER_BITS)
  ) u_free (
      .clk(clk),
      .rst(rst),
      .w_valid(given),
      .w_ready(),
      .w_data(number[NUMBER_BITS-1:0]),
      .r_valid(free_valid),
      .r_ready(arrive),
      .r_data(free_number),
      .level(free_level),
      .busy()
  );

  myri_fifo #(
      .WIDTH($bits(fifo_arrived_t)),
      .DEPTH_LOG2(NUMBER_BITS)
  ) u_ready (
      .clk,
      .rst,
      .r_valid,
      .r_data(oldest),
      .w_valid(arrive),
      .w_ready(),
      .w_data(arrived),
      .r_ready(next),
      .level(ready_level),
      .busy()
  );

  always_ff @(posedge clk) begin
    if (rst) begin
      held_q <= '0;
    end else begin
      if (arrive) held_q[free_number] <= 1'b0;
      if (given) held_q[number[NUMBER_BITS-1:0]] <= 1'b1;
    end
  end
endmodule
