// Circuit in Python behind the pins of a circuit of the FPGA card. The slot buffers words and counts clocks; Python gets
// whole messages, and gives all orders up to the next message at once (hdl/sim/doorway/circuit.c).
//
// Timing, in user clocks: words of a message and of a result move one a clock. An order takes one clock to be fetched;
// for charged clocks that clock is the first of them. An access of the bank takes two clocks a read, one a write.
`include "doorway.svh"
module sim_circuit #(
    parameter int UNIT  = 0,  // unit number of the card
    parameter int PLACE = 0   // number of the circuit in its card
) (
    input logic clk,  // fabric clock
    input logic rst,  // synchronous; also while the slot is being configured
    input logic ce,  // clock enable of the user clock: nothing moves without it
    input  logic [127:0] arguments,  // the four arguments of the message, a0 in bits 31:0; static during a message
    input logic in_valid,  // word of the payload, or the end of an empty payload
    output logic in_ready,  // accepted
    input logic in_last,  // last word of its message
    input logic [2:0] in_bytes,  // valid bytes in the word, 1..4; 0: an empty message
    input logic [31:0] in_data,  // byte i in bits 8i+7:8i
    output logic out_valid,  // word of the result; one result message per input message
    input logic out_ready,  // accepted
    output logic out_last,  // last word of its message
    output logic [2:0] out_bytes,  // valid bytes in the word, 1..4; 0: an empty message
    output logic [31:0] out_data,  // byte i in bits 8i+7:8i
    output logic mem_valid,  // access of the bank of the circuits
    input logic mem_ready,  // accepted
    output logic mem_write,  // 1 = write
    output logic [16:0] mem_addr,  // word within the slot's part of the bank
    output logic [31:0] mem_wdata,  // write data
    input logic mem_rvalid,  // read data, strobe
    input logic [31:0] mem_rdata,  // read data
    output logic busy  // 1 = needs further clock edges without input
);
  typedef enum logic [2:0] {
    ORDER,  // fetch the next order
    TAKE,   // accept the words of a message
    COUNT,  // let charged clocks pass
    GIVE,   // a word of the result waits to be accepted
    READ,   // request a word of the bank
    DATA,   // wait for the word
    WRITE   // write a word of the bank
  } state_t;
  localparam logic [3:0] OP_TAKE = 4'd1, OP_COUNT = 4'd2, OP_GIVE = 4'd3, OP_READ = 4'd4, OP_WRITE = 4'd5;

  state_t        state_q;
  logic          live_q;  // configured, as of the last edge
  logic   [31:0] left_q;  // clocks, or words of the bank
  longint now, order, word, low, high;
  int bytes, data;

  assign in_ready  = live_q && state_q == TAKE;
  assign out_valid = state_q == GIVE;
  assign mem_valid = state_q == READ || state_q == WRITE;
  assign mem_write = state_q == WRITE;
  assign mem_wdata = out_data;
  assign busy      = live_q == rst || state_q != TAKE;

  always_ff @(posedge clk) begin
    if (rst) begin
      now = $time;
      if (live_q) `SAN(san_circuit_live) (now, UNIT, PLACE, 32'd0);
      live_q <= 1'b0;
      state_q <= TAKE;
      left_q <= '0;
      mem_addr <= '0;
      {out_last, out_bytes, out_data} <= '0;
    end else if (!live_q) begin
      now = $time;
      `SAN(san_circuit_live) (now, UNIT, PLACE, 32'd1);
      live_q  <= 1'b1;
      state_q <= ORDER;
    end else if (ce) begin
      now = $time;
      case (state_q)
        ORDER: begin
          order = `SAN(san_circuit_order) (now, UNIT, PLACE);
          left_q   <= order[63:60] == OP_COUNT ? order[31:0] - 32'd1 : {4'd0, order[59:32]};
          mem_addr <= order[16:0];
          case (order[63:60])
            OP_TAKE:  state_q <= TAKE;
            OP_COUNT: if (order[31:0] != 32'd1) state_q <= COUNT;
            OP_GIVE:  state_q <= GIVE;
            OP_READ:  state_q <= READ;
            OP_WRITE: state_q <= WRITE;
            default:  state_q <= ORDER;
          endcase
          if (order[63:60] == OP_GIVE || order[63:60] == OP_WRITE) begin
            word = `SAN(san_circuit_give) (UNIT, PLACE);
            {out_last, out_bytes, out_data} <= word[35:0];
          end
        end
        TAKE:
        if (in_valid) begin
          bytes = {29'd0, in_bytes};
          data  = in_data;
          `SAN(san_circuit_take) (UNIT, PLACE, bytes, data);
          if (in_last) begin
            low  = arguments[63:0];
            high = arguments[127:64];
            `SAN(san_circuit_complete) (now, UNIT, PLACE, low, high);
            state_q <= ORDER;
          end
        end
        COUNT: begin
          left_q <= left_q - 32'd1;
          if (left_q == 32'd1) state_q <= ORDER;
        end
        GIVE:
        if (out_ready) begin
          if (out_last) state_q <= ORDER;
          else begin
            word = `SAN(san_circuit_give) (UNIT, PLACE);
            {out_last, out_bytes, out_data} <= word[35:0];
          end
        end
        READ: if (mem_ready) state_q <= DATA;
        DATA:
        if (mem_rvalid) begin
          data = mem_rdata;
          `SAN(san_circuit_take) (UNIT, PLACE, 32'd4, data);
          left_q   <= left_q - 32'd1;
          mem_addr <= mem_addr + 17'd1;
          state_q  <= READ;
          if (left_q == 32'd1) begin
            `SAN(san_circuit_complete) (now, UNIT, PLACE, 64'd0, 64'd0);
            state_q <= ORDER;
          end
        end
        WRITE:
        if (mem_ready) begin
          left_q   <= left_q - 32'd1;
          mem_addr <= mem_addr + 17'd1;
          if (left_q == 32'd1) state_q <= ORDER;
          else begin
            word = `SAN(san_circuit_give) (UNIT, PLACE);
            {out_last, out_bytes, out_data} <= word[35:0];
          end
        end
        default: state_q <= ORDER;
      endcase
    end
  end
endmodule
