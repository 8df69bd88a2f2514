// Host DMA engine of a LANai 4: one transfer of whole words at a time (fact sheet 3.6).
//
// EAR is the host address, LAR the SRAM address, DMA_DIR = 1 host to SRAM; writing DMA_CTR = bytes starts a transfer.
// All three are multiples of 4: the lowest two bits are ignored. DMA_CTR counts down. DMA (`set_done`): all bytes have
// been moved; immediate for 0 bytes. During a transfer, writes of its registers are ignored and flagged by `misuse`. A
// bus abort, or words outside the SRAM, end it with `error` instead of DMA.
// A command to the bus master has at most 32 KB. Beats are 64-bit PCI lanes; the end of each command is returned as a beat.
// Timing: the bus command is sent cfg_start_clocks after the write of DMA_CTR. Data: one word per clock in either
// direction. Clock gating: the start-up is an alarm.
module myri_word_dma
  import myri_pci_pkg::*;
  import myri_sleep_pkg::*;
  import myri_lanai4_pkg::*;
  import myri_nic_trace_pkg::*;
  import myri_sram_pkg::*;
(
    input logic clk,  // NIC clock
    input logic rst,  // synchronous reset
    input logic [47:0] cycle,  // index of the coming edge
    input logic [15:0] cfg_start_clocks,  // start-up of a transfer
    input logic hold_reset,  // E-bus reset: no transfer starts
    input logic w_ear,  // write strobes
    input logic w_lar,  // LAR
    input logic w_dir,  // DMA_DIR
    input logic w_ctr,  // DMA_CTR
    input logic [31:0] w_data,  // value of all
    output logic [31:0] ear,  // read value of EAR
    output logic [31:0] lar,  // read value of LAR
    output logic dir,  // read value of DMA_DIR
    output logic [31:0] ctr,  // read value of DMA_CTR: bytes not yet moved
    output logic set_done,  // strobe: the transfer has finished
    output logic error,  // strobe: it was ended by an error
    output logic misuse,  // strobe: a write was ignored
    output sram_request_t sram,  // SRAM request
    input logic sram_gnt,  // grant
    input sram_read_t sram_read,  // read data
    output logic cmd_valid,  // command to the bus master
    input logic cmd_ready,  // accepted
    output pci_transfer_t cmd,  // command
    output logic wr_valid,  // beat to the bus master
    input logic wr_ready,  // accepted
    output logic [63:0] wr_data,  // PCI lanes
    input logic rd_valid,  // beat or end of command from the bus master
    output logic rd_ready,  // accepted
    input pci_beat_t rd,  // beat
    output dma_trace_t trace,  // events of this clock
    output sleep_t sleep  // when the NIC clock must run
);
  logic   in_flight;  // a transfer is active
  logic   busy;
  alarm_t alarm;  // start-up delay
  typedef enum logic [1:0] {
    IDLE,
    START,  // wait for the start-up
    ISSUE,  // send a command to the bus master
    MOVE    // move words until the command ends
  } state_t;
  localparam logic [31:0] PIECE = 32'd32768;

  state_t        state_q;
  logic   [31:0] bytes_q;  // length of the transfer
  logic   [29:0] words_q;  // not yet moved
  logic   [31:0] left_q;  // bytes not yet in a command
  logic   [31:0] address_q;  // next byte on the bus
  logic   [31:0] piece;
  logic   [20:0] at_q;  // next word of SRAM, host to SRAM
  logic          upper_q;  // the next word belongs to the upper half of a beat
  logic          last;  // the next word is the last one
  logic   [31:0] low_q;  // lower half of a beat that is not yet whole
  logic          ended_q;  // the last command has finished
  logic          failed_q;
  logic   [47:0] start_at_q;
  logic          begin_move;
  logic          complete;
  logic          refuse;
  logic          moved;  // a word passes at this edge
  logic          idle;
  logic r_valid, r_ready, r_busy;
  sram_request_t r_sram, w_sram;  // of the reader; of what comes from the bus
  logic [31:0] r_data;

  logic unused_ok;
  assign unused_ok = w_data[1];

  assign idle = state_q == IDLE;
  assign misuse = (w_ear || w_lar || w_dir || w_ctr) && !idle;
  assign ctr = {words_q, 2'b00};
  assign refuse = {1'b0, lar} + {1'b0, ctr} > 33'(SIZE_SRAM);
  assign begin_move = state_q == START && words_q != 30'd0 && !refuse && cycle >= start_at_q;
  assign piece = (left_q + {29'd0, address_q[2:0]} > PIECE) ? PIECE - {29'd0, address_q[2:0]} : left_q;
  assign complete = state_q == MOVE && ended_q && words_q == 30'd0;
  assign last = words_q == 30'd1;

  // SRAM to host: join words into beats. Host to SRAM: split beats into words.
  assign r_ready = (upper_q || last) ? wr_ready : 1'b1;
  assign wr_valid = r_valid && (upper_q || last);
  assign wr_data = upper_q ? {r_data, low_q} : {32'd0, r_data};
  assign sram = dir ? w_sram : r_sram;
  assign w_sram.req = state_q == MOVE && rd_valid && !rd.done;
  assign w_sram.write = 1'b1;
  assign w_sram.addr = {at_q, 2'b00};
  assign w_sram.be = 8'h0F;
  assign w_sram.wdata = {32'd0, upper_q ? rd.data[63:32] : rd.data[31:0]};
  assign rd_ready = rd.done || (sram.req && sram_gnt && (upper_q || last));
  assign moved = dir ? sram.req && sram_gnt : r_valid && r_ready;
  assign cmd_valid = state_q == ISSUE;
  assign cmd.write = !dir;
  assign cmd.addr = address_q;
  assign cmd.bytes = piece[15:0];

  myri_sram_reader #(
      .WIDTH(32)
  ) u_reader (
      .clk,
      .rst,
      .sram_gnt,
      .sram_read,
      .start(begin_move && !dir),
      .addr(lar[22:2]),
      .count(words_q),
      .sram(r_sram),
      .out_valid(r_valid),
      .out_ready(r_ready),
      .out_data(r_data),
      .busy(r_busy)
  );

  always_ff @(posedge clk) begin
    if (rst) begin
      {ear, lar} <= 64'd0;
      dir <= 1'b0;
    end else if (idle) begin
      if (w_ear) ear <= {w_data[31:2], 2'b00};
      if (w_lar) lar <= {w_data[31:2], 2'b00};
      if (w_dir) dir <= w_data[0];
    end
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      state_q <= IDLE;
      {words_q, left_q, address_q, at_q, low_q, bytes_q} <= '0;
      {upper_q, ended_q, failed_q} <= 3'd0;
      start_at_q <= 48'd0;
    end else begin
      if (rd_valid && rd.done) begin
        failed_q <= failed_q || rd.error;
        ended_q  <= left_q == 32'd0;
        if (left_q != 32'd0) state_q <= ISSUE;
      end
      if (moved) begin
        words_q <= words_q - 30'd1;
        upper_q <= !upper_q;
        low_q   <= r_data;
        at_q    <= at_q + 21'd1;
      end
      case (state_q)
        IDLE:
        if (w_ctr && !hold_reset) begin
          state_q <= START;
          words_q <= w_data[31:2];
          bytes_q <= {w_data[31:2], 2'b00};
          left_q <= {w_data[31:2], 2'b00};
          address_q <= ear;
          at_q <= lar[22:2];
          upper_q <= ear[2];
          start_at_q <= cycle + {32'd0, cfg_start_clocks};
          {ended_q, failed_q} <= 2'b00;
        end
        START:
        if (words_q == 30'd0 || refuse) state_q <= IDLE;
        else if (begin_move) state_q <= ISSUE;
        ISSUE:
        if (cmd_ready) begin
          state_q <= MOVE;
          left_q <= left_q - piece;
          address_q <= address_q + piece;
        end
        default: if (complete) state_q <= IDLE;
      endcase
    end
  end

  assign error = (state_q == START && refuse) || (complete && failed_q);
  assign set_done = (state_q == START && words_q == 30'd0 && !refuse) || (complete && !failed_q);
  assign trace = {begin_move, complete, 2'd0, dir, bytes_q, lar[22:0]};
  assign sleep = {busy, busy, in_flight, alarm};
  assign in_flight = !idle;
  assign alarm.valid = state_q == START && words_q != 30'd0 && !refuse;
  assign alarm.cycle = start_at_q;
  assign busy = w_ear || w_lar || w_dir || w_ctr || r_busy || moved || (rd_valid && rd_ready) || sram.req ||
      begin_move || (state_q == START && !alarm.valid) || (cmd_valid && cmd_ready) || complete;
endmodule
