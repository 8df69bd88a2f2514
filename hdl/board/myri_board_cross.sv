// Crossing of the board's bus to a node: one access at a time, with a time-out.
//
// Requests and answers cross by FIFOs. Each request has a number, and an answer with another number is dropped: it
// belongs to an access that was given up. While `hold` is 1, accesses are answered with an error at once. The request
// FIFO is reset on the bus side only after the node is in reset, so that the node reads no stale request.
// Timing: an answer takes the latency of both crossings and the time of the access.
module myri_board_cross
  import myri_board_pkg::*;
#(
    parameter int WAIT_LOG2 = 16  // an access is given up after 2**WAIT_LOG2 bus clocks
) (
    input logic bus_clk,  // bus clock
    input logic bus_rst,  // synchronous reset
    input logic hold,  // the node is held in reset
    input logic bus_valid,  // access, until bus_ready
    output logic bus_ready,  // the access ends in this clock
    input logic bus_write,  // 1 = write
    input logic [31:0] bus_addr,  // byte address
    input logic [31:0] bus_wdata,  // write data
    output logic [31:0] bus_rdata,  // read data
    output logic bus_error,  // with bus_ready: no answer, or an error
    input logic nic_clk,  // NIC clock
    input logic nic_rst,  // synchronous reset of the node
    output logic at_valid,  // access in the node, until at_ready
    input logic at_ready,  // it ends in this clock
    output logic at_write,  // 1 = write
    output logic [3:0] at_region,  // REGION_*
    output logic [23:0] at_offset,  // byte offset
    output logic [31:0] at_wdata,  // write data
    input logic [31:0] at_rdata,  // read data, with at_ready
    input logic at_error  // the access has failed, with at_ready
);
  localparam int REQUEST_BITS = 2 + 1 + 4 + 24 + 32;
  localparam int ANSWER_BITS = 2 + 1 + 32;

  // Bus side.
  typedef enum logic [1:0] {
    IDLE,
    SENT,
    ENDED
  } state_t;
  state_t state_q;
  logic [1:0] number_q;  // of the present request
  logic [WAIT_LOG2-1:0] wait_q;
  logic in_reset, push, room, answered, ours, give_up;
  logic [1:0] answer_number;
  logic [31:0] answer_data;
  logic answer_error;
  logic [31:0] rdata_q;
  logic error_q;

  assign push = state_q == IDLE && bus_valid && !hold;
  assign ours = answered && !hold && state_q == SENT && answer_number == number_q;
  assign give_up = &wait_q;
  assign bus_ready = state_q == ENDED;
  assign bus_rdata = rdata_q;
  assign bus_error = error_q;

  myri_board_level u_in_reset (
      .clk(bus_clk),
      .rst(bus_rst),
      .d  (nic_rst),
      .q  (in_reset)
  );

  always_ff @(posedge bus_clk) begin
    if (bus_rst) begin
      state_q  <= IDLE;
      number_q <= 2'd0;
      wait_q   <= '0;
      rdata_q  <= 32'd0;
      error_q  <= 1'b0;
    end else begin
      case (state_q)
        IDLE: begin
          wait_q <= '0;
          if (bus_valid && (hold || !room)) begin
            error_q <= 1'b1;
            state_q <= ENDED;
          end else if (bus_valid) begin
            number_q <= number_q + 2'd1;
            state_q  <= SENT;
          end
        end
        SENT: begin
          wait_q <= wait_q + 1'b1;
          if (ours || hold || give_up) begin
            rdata_q <= answer_data;
            error_q <= !ours || answer_error;
            state_q <= ENDED;
          end
        end
        default: state_q <= IDLE;
      endcase
    end
  end

  // Node side.
  logic [1:0] at_number;

  myri_cdc_fifo #(
      .WIDTH(REQUEST_BITS),
      .DEPTH_LOG2(2)
  ) u_request (
      .cfg_latency(4'd1),
      .w_clk(bus_clk),
      .w_rst(bus_rst || (hold && in_reset)),
      .w_valid(push),
      .w_ready(room),
      .w_data({number_q + 2'd1, bus_write, bus_addr[31:28], bus_addr[23:0], bus_wdata}),
      .w_busy(),
      .r_clk(nic_clk),
      .r_rst(nic_rst),
      .r_valid(at_valid),
      .r_ready(at_ready),
      .r_data({at_number, at_write, at_region, at_offset, at_wdata}),
      .r_busy()
  );
  myri_cdc_fifo #(
      .WIDTH(ANSWER_BITS),
      .DEPTH_LOG2(2)
  ) u_answer (
      .cfg_latency(4'd1),
      .w_clk(nic_clk),
      .w_rst(nic_rst),
      .w_valid(at_valid && at_ready),
      .w_ready(),
      .w_data({at_number, at_error, at_rdata}),
      .w_busy(),
      .r_clk(bus_clk),
      .r_rst(bus_rst || hold),
      .r_valid(answered),
      .r_ready(1'b1),
      .r_data({answer_number, answer_error, answer_data}),
      .r_busy()
  );

  logic unused;
  assign unused = ^bus_addr[27:24];
endmodule
