// Host DMA engine: four chains of 24-byte control blocks in SRAM (fact sheet 3.6), chain 0 with the highest priority.
//
// PULSE bit k (or control register trigger k) starts chain k at its current block. The engine fetches the block. If
// TERMINAL is set, the chain stops there, and the next PULSE resumes it at the same block. Otherwise it moves `len_q`
// bytes (E2L: host to SRAM, or back; any alignment on both sides; 0 is legal), writes the two checksums and the
// `next_q` word with TERMINAL set into the block, raises WAKE (chains 0, 1: WAKE1; 2, 3: WAKE2) if the block requests
// it, and continues at `next_q`. After each block the running chain with the highest priority is served. A bus abort, a
// bus address above 4 GB or bytes outside the SRAM window stop the chain with `error`; the block is not marked. E-bus
// reset stops all chains after the active block.
// A command to the PCI side has at most 32 KB. Beats are 64-bit PCI lanes; the end of each command is returned as a beat.
// Timing: the bus command is sent cfg_start_clocks after the block's fetch began, or when the block has been read,
// whichever is later. Data: one word per clock in either direction. Clock gating: the start-up is an alarm.
module myri_host_dma
  import myri_pci_pkg::*;
  import myri_sleep_pkg::*;
  import myri_lanai9_pkg::*;
  import myri_nic_trace_pkg::*;
  import myri_sram_pkg::*;
(
    input logic clk,  // NIC clock
    input logic rst,  // synchronous reset
    input logic [47:0] cycle,  // index of the coming edge
    input logic [15:0] cfg_start_clocks,  // start-up of a block
    input logic hold_reset,  // E-bus reset
    input logic [3:0] pulse,  // strobes: start or continue chain k
    input logic [3:0] w_list,  // strobes: load the current block of chain k
    input logic [23:0] w_data,  // SRAM address of the block
    output logic [SIZE_CHAINS-1:0][23:0] list,  // current block of each chain
    output logic [SIZE_CHAINS-1:0][31:0] progress,  // bytes moved of its latest block, 0 from PULSE on
    output logic [31:0] status,  // {.., 8: block active, 5:4: its chain, 3:0: chains running}
    output logic [1:0] set_wake,  // strobes: WAKE1, WAKE2
    output logic error,  // strobe: chain stopped by an error
    output logic [1:0] chain,  // chain of the active block
    output sram_request_t sram,  // SRAM request
    input logic sram_gnt,  // grant
    input sram_read_t sram_read,  // read data
    output logic cmd_valid,  // command to the PCI side
    input logic cmd_ready,  // accepted
    output pci_transfer_t cmd,  // command
    output logic wr_valid,  // beat to the PCI side
    input logic wr_ready,  // accepted
    output logic [63:0] wr_data,  // PCI lanes
    input logic rd_valid,  // beat or end of command from the PCI side
    output logic rd_ready,  // accepted
    input pci_beat_t rd,  // beat
    output dma_trace_t trace,  // events of this clock
    output sleep_t sleep  // when the NIC clock must run
);
  logic   in_flight;  // a transfer is active
  logic   busy;
  alarm_t alarm;  // start-up delay
  typedef enum logic [2:0] {
    IDLE,
    FETCH,  // read the block's three words
    START,  // decide, then wait for the start-up
    ISSUE,  // send a command to the PCI side
    MOVE,   // move data until the command ends
    MARK    // write back the first word
  } state_t;
  localparam logic [31:0] PIECE = 32'd32768;

  state_t       state_q;
  logic   [3:0] running_q;
  logic         pulsed_q;  // PULSE of this chain since its block was fetched
  logic   [1:0] pick;
  logic   [1:0] index_q;  // words fetched
  logic [31:0] next_q, len_q, lar_q, eah_q, eal_q;
  logic [31:0] left_q;  // bytes not yet in a command
  logic [31:0] address_q;  // next byte on the bus
  logic [31:0] piece;
  logic        due_q;  // the start-up has already elapsed
  logic [19:0] block_q;  // word address of the active block
  logic        ended_q;  // the last command has finished
  logic        failed_q;
  logic [47:0] start_at_q;
  logic [19:0] next_block;  // word address of the block that `go` begins
  logic [ 3:0] spare;
  logic        go;
  logic        refuse;
  logic        wanted;  // the block has bytes to move
  logic        begin_move;
  logic        complete;
  logic        e2l;  // flags of the block
  logic        terminal;
  logic        wake;
  logic        starts;  // a block starts to move
  logic        marked;  // the block is done at this edge

  // Aligner, reader, checksum.
  logic r_start, r_valid, r_ready, r_busy;
  logic [19:0] r_addr;
  logic [29:0] r_count;
  sram_request_t r_sram, w_sram;  // of the reader; of the mark and the aligner
  logic [63:0] r_data;
  logic a_in_valid, a_want, a_skip, a_out_valid, a_out_ready, a_active, a_busy;
  logic [63:0] a_out_data;
  logic [7:0] a_in_be, a_out_be;
  logic [ 3:0] a_out_bytes;
  logic [22:0] a_sram_addr_q;
  logic [15:0] sum0, sum1;

  function automatic logic [31:0] swap(input logic [31:0] x);
    return {x[7:0], x[15:8], x[23:16], x[31:24]};
  endfunction

  assign e2l = (next_q[2:0] & FLAG_E2L) != 3'd0;
  assign terminal = (next_q[2:0] & FLAG_TERMINAL) != 3'd0;
  assign wake = marked && (next_q[2:0] & FLAG_WAKE) != 3'd0;
  assign pick = running_q[0] ? 2'd0 : running_q[1] ? 2'd1 : running_q[2] ? 2'd2 : 2'd3;
  assign {spare[3], next_block, spare[2:0]} = list[pick];
  assign go = state_q == IDLE && running_q != 4'd0 && !hold_reset;
  assign refuse = eah_q != 32'd0 || lar_q[31:23] != 9'd0 || {1'b0, lar_q} + {1'b0, len_q} > 33'h800000;
  assign wanted = !terminal && !refuse && len_q != 32'd0;
  assign begin_move = state_q == START && wanted && (due_q || cycle >= start_at_q);
  assign piece = (left_q + {29'd0, address_q[2:0]} > PIECE) ? PIECE - {29'd0, address_q[2:0]} : left_q;
  assign complete = state_q == MOVE && ended_q && !a_active;

  // SRAM requests: the reader, the aligner's output, or the mark; never two of them at once.
  assign r_start = go || (begin_move && !e2l);
  assign r_addr = go ? next_block : lar_q[22:3];
  assign r_count = go ? 30'd3 : {1'b0, len_q[31:3]} + (({27'd0, lar_q[2:0]} + {27'd0, len_q[2:0]} + 30'd7) >> 3);
  assign sram = r_sram.req ? r_sram : w_sram;
  assign w_sram.req = (state_q == MARK) || (e2l && a_out_valid);
  assign w_sram.write = 1'b1;
  assign w_sram.addr = (state_q == MARK) ? {block_q, 3'b000} : a_sram_addr_q;
  assign w_sram.wdata = (state_q == MARK) ? {swap(
      {sum0, sum1}
  ), swap(
      next_q | {29'd0, FLAG_TERMINAL}
  )} : a_out_data;
  assign w_sram.be = (state_q == MARK) ? 8'hFF : a_out_be;

  // Streams.
  assign r_ready = (state_q == FETCH) || (!e2l && a_want && (a_skip || wr_ready));
  assign a_in_valid = (state_q != FETCH) && (e2l ? rd_valid && !rd.done : r_valid);
  assign a_out_ready = e2l ? sram_gnt : wr_ready;
  assign wr_valid = !e2l && a_out_valid;
  assign wr_data = a_out_data;
  assign rd_ready = rd.done || (e2l && a_want && (a_skip || sram_gnt));
  assign cmd_valid = state_q == ISSUE;
  assign cmd.write = !e2l;
  assign cmd.addr = address_q;
  assign cmd.bytes = piece[15:0];

  myri_sram_reader u_reader (
      .clk,
      .rst,
      .sram_gnt,
      .sram_read,
      .start(r_start),
      .addr(r_addr),
      .count(r_count),
      .sram(r_sram),
      .out_valid(r_valid),
      .out_ready(r_ready),
      .out_data(r_data),
      .busy(r_busy)
  );

  myri_byte_aligner u_aligner (
      .clk(clk),
      .rst(rst),
      .start(begin_move),
      .src(e2l ? eal_q[2:0] : lar_q[2:0]),
      .dst(e2l ? lar_q[2:0] : eal_q[2:0]),
      .bytes(len_q),
      .in_valid(a_in_valid),
      .in_want(a_want),
      .in_skip(a_skip),
      .in_data(e2l ? rd.data : r_data),
      .in_be(a_in_be),
      .out_valid(a_out_valid),
      .out_ready(a_out_ready),
      .out_data(a_out_data),
      .out_be(a_out_be),
      .out_bytes(a_out_bytes),
      .active(a_active),
      .busy(a_busy)
  );

  myri_dma_csum u_csum (
      .clk,
      .rst,
      .sum0,
      .sum1,
      .clear(go),
      .take(e2l ? a_out_valid && a_out_ready : r_valid && r_ready),
      .be(e2l ? a_out_be : a_in_be),
      .data(e2l ? a_out_data : r_data)
  );

  always_ff @(posedge clk) begin
    if (rst) begin
      state_q <= IDLE;
      {pulsed_q, index_q, due_q, ended_q, failed_q} <= 6'd0;
      block_q <= 20'd0;
      {next_q, len_q, lar_q, eah_q, eal_q, left_q, address_q} <= 224'd0;
      start_at_q <= 48'd0;
      a_sram_addr_q <= 23'd0;
    end else begin
      if (rd_valid && rd.done) begin
        failed_q <= failed_q || rd.error;
        ended_q  <= left_q == 32'd0;
        if (left_q != 32'd0) state_q <= ISSUE;
      end
      if (e2l && a_out_valid && sram_gnt) a_sram_addr_q <= a_sram_addr_q + 23'd8;
      pulsed_q <= pulsed_q || pulse[chain];
      case (state_q)
        IDLE:
        if (go) begin
          state_q <= FETCH;
          index_q <= 2'd0;
          pulsed_q <= pulse[pick];
          block_q <= next_block;
          start_at_q <= cycle + {32'd0, cfg_start_clocks};
          {ended_q, failed_q} <= 2'b00;
        end
        FETCH:
        if (r_valid) begin
          index_q <= index_q + 2'd1;
          if (index_q == 2'd0) next_q <= swap(r_data[31:0]);
          if (index_q == 2'd1) {lar_q, len_q} <= {swap(r_data[63:32]), swap(r_data[31:0])};
          if (index_q == 2'd2) {eal_q, eah_q} <= {swap(r_data[63:32]), swap(r_data[31:0])};
          due_q <= cycle + 48'd1 >= start_at_q;
          if (index_q == 2'd2) state_q <= START;
        end
        START: begin
          left_q <= len_q;
          address_q <= eal_q;
          a_sram_addr_q <= {lar_q[22:3], 3'b000};
          if (terminal || refuse) state_q <= IDLE;
          else if (len_q == 32'd0) state_q <= MARK;
          else if (begin_move) state_q <= ISSUE;
        end
        ISSUE:
        if (cmd_ready) begin
          state_q <= MOVE;
          left_q <= left_q - piece;
          address_q <= address_q + piece;
        end
        MOVE: if (complete) state_q <= failed_q ? IDLE : MARK;
        MARK: if (sram_gnt) state_q <= IDLE;
        default: state_q <= IDLE;
      endcase
    end
  end

  // Chains.
  logic stop;  // the active chain stops at this edge
  assign marked = state_q == MARK && sram_gnt;
  assign error = (state_q == START && !terminal && refuse) || (complete && failed_q);
  assign stop = error || (state_q == START && terminal && !pulsed_q && !pulse[chain]);
  assign set_wake = {wake && chain[1], wake && !chain[1]};
  assign status = {23'd0, state_q != IDLE, 2'd0, chain, running_q};

  always_ff @(posedge clk) begin
    if (rst) chain <= 2'd0;
    else if (go) chain <= pick;
  end

  for (genvar k = 0; k < SIZE_CHAINS; k++) begin : gen_chain
    always_ff @(posedge clk) begin
      if (rst) begin
        running_q[k] <= 1'b0;
        list[k] <= 24'd0;
        progress[k] <= 32'd0;
      end else begin
        if (pulse[k] && !hold_reset) running_q[k] <= 1'b1;
        else if ((stop && chain == k[1:0]) || hold_reset) running_q[k] <= 1'b0;
        if (w_list[k]) list[k] <= {w_data[23:3], 3'b000};
        else if (marked && chain == k[1:0]) list[k] <= {next_q[23:3], 3'b000};
        if ((pulse[k] && !running_q[k]) || (starts && chain == k[1:0])) progress[k] <= 32'd0;
        else if (chain == k[1:0] && a_out_valid && a_out_ready) begin
          progress[k] <= progress[k] + {28'd0, a_out_bytes};
        end
      end
    end
  end

  logic unused_ok;
  assign unused_ok = ^{w_data[2:0], spare};

  assign starts = begin_move || (state_q == START && len_q == 32'd0 && !terminal && !refuse);
  assign trace = {starts, marked, chain, e2l, len_q, lar_q[22:0]};
  assign sleep = {busy, busy, in_flight, alarm};
  assign in_flight = state_q != IDLE;
  assign alarm.valid = state_q == START && wanted && !due_q;
  assign alarm.cycle = start_at_q;
  assign busy = pulse != 4'd0 || w_list != 4'd0 || go || r_busy || a_busy || sram.req ||
      (rd_valid && rd_ready) || (state_q == START && !alarm.valid) || begin_move || (cmd_valid && cmd_ready) ||
      complete || (hold_reset && running_q != 4'd0);
endmodule
