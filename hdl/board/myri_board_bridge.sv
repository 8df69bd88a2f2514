// Bridge from the bytes of a serial line to the board's bus: the protocol of LiteX's UARTBone (pymodels/board/bone.py).
//
// A command whose next byte does not arrive within TIMEOUT clocks is dropped. Bytes that arrive during an access wait in
// a FIFO of 16. Both directions have a CRC-32; `restart` latches that of the replies and restarts both.
// Timing: an access begins in the clock after the last byte of its word, and lasts until bus_ready.
module myri_board_bridge #(
    parameter int TIMEOUT = 2500000  // clocks without a byte after which a command is dropped
) (
    input logic clk,  // bus clock
    input logic rst,  // synchronous reset
    input logic in_valid,  // strobe: byte from the host
    input logic [7:0] in_data,  // the byte
    output logic out_valid,  // byte to the host
    input logic out_ready,  // taken at the coming edge
    output logic [7:0] out_data,  // the byte
    output logic bus_valid,  // access, until bus_ready
    output logic bus_write,  // 1 = write
    output logic [31:0] bus_addr,  // byte address of a word
    output logic [31:0] bus_wdata,  // write data
    input logic bus_ready,  // the access ends in this clock
    input logic [31:0] bus_rdata,  // read data, with bus_ready
    input logic restart,  // strobe: restart both checks
    output logic [31:0] line_check,  // CRC-32 of the bytes of commands
    output logic [31:0] reply_check,  // CRC-32 of the bytes of replies, as of the last restart
    output logic ev_overrun,  // strobe: a byte was lost, the FIFO was full
    output logic ev_timeout  // strobe: a command was dropped
);
  localparam logic [7:0] COMMAND_WRITE = 8'h01;
  localparam logic [7:0] COMMAND_READ = 8'h02;
  localparam int WAIT_BITS = $clog2(TIMEOUT + 1);

  typedef enum logic [2:0] {
    COMMAND,
    LENGTH,
    ADDRESS,
    DATA,
    ACCESS,
    REPLY
  } state_t;

  state_t state_q;
  logic write_q;
  logic [7:0] left_q;  // words left
  logic [1:0] byte_q;  // bytes of the word or address that have passed
  logic [29:0] addr_q;
  logic [31:0] word_q;
  logic [WAIT_BITS-1:0] idle_q;  // clocks since the last byte of an unfinished command
  logic have, room, take, listening, last;
  logic [7:0] data;
  logic [31:0] line_q, line_next, reply_q, reply_next;

  assign listening = state_q != ACCESS && state_q != REPLY;
  assign take = have && listening;
  assign last = byte_q == 2'd3;
  assign bus_valid = state_q == ACCESS;
  assign bus_write = write_q;
  assign bus_addr = {addr_q, 2'b00};
  assign bus_wdata = word_q;
  assign out_valid = state_q == REPLY;
  assign out_data = word_q[31:24];
  assign line_check = ~line_q;
  assign ev_overrun = in_valid && !room;
  assign ev_timeout = listening && state_q != COMMAND && !have && idle_q == WAIT_BITS'(TIMEOUT);

  myri_fifo #(
      .WIDTH(8),
      .DEPTH_LOG2(4)
  ) u_fifo (
      .clk(clk),
      .rst(rst),
      .w_valid(in_valid),
      .w_ready(room),
      .w_data(in_data),
      .r_valid(have),
      .r_ready(take),
      .r_data(data),
      .level(),
      .busy()
  );
  myri_board_crc32 u_line (
      .crc (line_q),
      .data(data),
      .next(line_next)
  );
  myri_board_crc32 u_reply (
      .crc (reply_q),
      .data(out_data),
      .next(reply_next)
  );

  always_ff @(posedge clk) begin
    if (rst) begin
      state_q <= COMMAND;
      write_q <= 1'b0;
      left_q  <= 8'd0;
      byte_q  <= 2'd0;
      addr_q  <= 30'd0;
      word_q  <= 32'd0;
    end else if (ev_timeout) begin
      state_q <= COMMAND;
    end else begin
      case (state_q)
        COMMAND:
        if (take && (data == COMMAND_WRITE || data == COMMAND_READ)) begin
          write_q <= data == COMMAND_WRITE;
          state_q <= LENGTH;
        end
        LENGTH:
        if (take) begin
          left_q  <= data;
          byte_q  <= 2'd0;
          state_q <= ADDRESS;
        end
        ADDRESS:
        if (take) begin
          addr_q <= {addr_q[21:0], data};
          byte_q <= byte_q + 2'd1;
          if (last && left_q == 8'd0) state_q <= COMMAND;
          else if (last) state_q <= write_q ? DATA : ACCESS;
        end
        DATA:
        if (take) begin
          word_q <= {word_q[23:0], data};
          byte_q <= byte_q + 2'd1;
          if (last) state_q <= ACCESS;
        end
        ACCESS:
        if (bus_ready) begin
          addr_q <= addr_q + 30'd1;
          left_q <= left_q - 8'd1;
          byte_q <= 2'd0;
          if (!write_q) begin
            word_q  <= bus_rdata;
            state_q <= REPLY;
          end else begin
            state_q <= left_q == 8'd1 ? COMMAND : DATA;
          end
        end
        REPLY:
        if (out_ready) begin
          word_q <= {word_q[23:0], 8'd0};
          byte_q <= byte_q + 2'd1;
          if (last) state_q <= left_q == 8'd0 ? COMMAND : ACCESS;
        end
        default: state_q <= COMMAND;
      endcase
    end
  end

  always_ff @(posedge clk) begin
    if (rst || take || !listening || state_q == COMMAND) idle_q <= '0;
    else if (!ev_timeout) idle_q <= idle_q + 1'b1;
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      line_q <= '1;
      reply_q <= '1;
      reply_check <= '0;
    end else if (restart) begin
      line_q <= '1;
      reply_q <= '1;
      reply_check <= ~reply_q;
    end else begin
      if (take) line_q <= line_next;
      if (out_valid && out_ready) reply_q <= reply_next;
    end
  end
endmodule
