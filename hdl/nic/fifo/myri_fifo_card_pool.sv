// Receive pool: the free list of buffers, and the FIFO of packets that have arrived in them.
//
// `give` puts a buffer into the pool; a number that no buffer has, or that of a buffer in the pool, is refused. The
// oldest is offered to the receive side, which keeps it until its packet is whole: `arrive` moves it to the FIFO of
// arrived packets, and `next` goes on to the next of them. Neither FIFO can overflow, as no buffer stands in them twice.
// Timing: that of myri_fifo; refused in the clock of the strobe. State moves with strobes only.
module myri_fifo_card_pool
  import myri_fifo_card_pkg::*;
(
    input logic clk,  // NIC clock
    input logic rst,  // synchronous reset, empties both
    input logic give,  // strobe: a buffer for the pool
    input logic [31:0] number,  // with it: its number
    output logic no_number,  // with give: no buffer has this number
    output logic pooled,  // with give: it is in the pool
    output logic free_valid,  // a buffer is there to receive into
    output logic [6:0] free_number,  // its number
    output logic [7:0] free_level,  // how many there are
    input logic arrive,  // strobe: its packet is whole
    input logic [13:0] arrived_as,  // with it: {bad CRC-8, too long, bytes}
    output logic [31:0] ready,  // RX_READY: the oldest packet that has arrived, 0 when there is none
    output logic [7:0] ready_level,  // how many there are
    input logic next  // strobe: done with it; not at level 0
);
  localparam int NUMBER_BITS = $clog2(SIZE_BUFFERS);
  logic [SIZE_BUFFERS-1:0] held_q;  // in the pool, the one that is filled included
  logic given, r_valid;
  logic [20:0] r_data;
  logic unused_ok;  // neither FIFO can be full; busy is that of who strobes

  assign no_number = give && (number[NUMBER_BITS-1:0] == '0 || number[31:NUMBER_BITS] != '0);
  assign pooled = give && !no_number && held_q[number[NUMBER_BITS-1:0]];
  assign given = give && !no_number && !pooled;
  assign ready = r_valid ? {1'b1, r_data[20:19], 6'd0, r_data[18:12], 4'd0, r_data[11:0]} : 32'd0;

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
      .WIDTH(NUMBER_BITS + 14),
      .DEPTH_LOG2(NUMBER_BITS)
  ) u_ready (
      .clk,
      .rst,
      .r_valid,
      .r_data,
      .w_valid(arrive),
      .w_ready(),
      .w_data({arrived_as[13:12], free_number, arrived_as[11:0]}),
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
