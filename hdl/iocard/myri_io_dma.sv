// DMA engine of the I/O card: moves bytes between local memory and the PCI bus, by a chain of descriptors in local
// memory.
//
// A descriptor has four words: the local address of the next descriptor or 0, PCI address, local address, and
// {to PCI [31], bytes [15:0]}. Both addresses are equal modulo 8, so that a lane group of the bus is one of the memory.
// An invalid descriptor or a bus abort ends the chain.
// Timing: two reads of a descriptor, then one lane group per clock as far as bus and memory allow; the next descriptor
// is read when the last data phase is over. `done` one clock after the end of the chain.
module myri_io_dma
  import myri_io_pkg::*;
  import myri_pci_pkg::*;
  import myri_sram_pkg::*;
(
    input logic clk,  // PCI clock
    input logic rst,  // synchronous reset
    input logic start,  // strobe: start a chain, only while not active
    input logic [22:0] descriptor,  // local address of the first descriptor, multiple of 8
    output logic active,  // the chain is unfinished
    output logic done,  // strobe: it has finished
    output io_dma_cause_t cause,  // with done: how
    output sram_request_t dma_sram,  // access of local memory
    input logic dma_gnt,  // granted
    input sram_read_t dma_read,  // data read
    output logic mc_valid,  // command of the master
    input logic mc_ready,  // accepted
    output pci_transfer_t mc,  // the command
    output logic mw_valid,  // write beat
    input logic mw_ready,  // accepted
    output logic [63:0] mw_data,  // byte lanes
    input logic mr_valid,  // read beat
    output logic mr_ready,  // accepted
    input logic [63:0] mr_data,  // byte lanes
    input logic m_done,  // strobe: the command has finished
    input logic m_error,  // with m_done: by an abort
    output logic busy  // 1 = a further clock edge is needed
);
  typedef enum logic [2:0] {
    IDLE,
    HEAD,  // read next descriptor and PCI address
    HEADED,  // wait for them
    TAIL,  // read local address and length
    TAILED,  // wait for them
    COMMAND,  // check the descriptor, give the command to the master
    MOVE  // move the data
  } state_t;
  state_t state_q;
  logic [22:0] at_q;  // descriptor
  logic [22:0] next_q;  // next descriptor, 0 = none
  logic [31:0] pci_q;  // PCI address
  logic [22:0] local_q;  // lane group of the data
  logic [2:0] offset_q;  // first byte in the first lane group
  logic [15:0] bytes_q;
  logic to_pci_q, over_q, failed_q, first_q;
  logic [16:0] left_q;  // bytes left, from the start of the next lane group
  logic valid, finished, moved, granted, ask;
  assign valid   = bytes_q != '0 && pci_q[2:0] == offset_q;
  assign granted = dma_sram.req && dma_gnt;

  // ---- data ----
  logic hold_ready, hold_valid, hold_busy, beat_out;
  logic [2:0] due_q, level;  // lane groups requested or held
  logic [63:0] hold_data;
  logic [7:0] head_mask, tail_mask;
  logic incoming, arrives;  // a beat from the bus; a lane group from memory
  assign arrives = dma_read.valid && state_q == MOVE;
  assign incoming = state_q == MOVE && !to_pci_q && mr_valid && left_q != '0;
  assign ask = state_q == MOVE && to_pci_q && left_q != '0 && due_q < 3'd4;
  assign head_mask = first_q ? 8'hFF << offset_q : 8'hFF;
  assign tail_mask = left_q < 17'd8 ? ~(8'hFF << left_q[2:0]) : 8'hFF;
  assign moved = state_q == MOVE && granted;
  assign mr_ready = state_q == MOVE && !to_pci_q && moved;
  assign mw_valid = hold_valid;
  assign mw_data = hold_data;
  assign beat_out = hold_valid && mw_ready;
  myri_fifo #(
      .WIDTH(64),
      .DEPTH_LOG2(2)
  ) u_hold (
      .clk,
      .rst,
      .w_valid(arrives),
      .w_ready(hold_ready),
      .w_data (dma_read.data),
      .r_valid(hold_valid),
      .r_ready(beat_out),
      .r_data (hold_data),
      .level  (level),
      .busy   (hold_busy)
  );

  // ---- local memory ----
  always_comb begin
    dma_sram.req = incoming || ask || state_q == HEAD || state_q == TAIL;
    dma_sram.write = incoming;
    dma_sram.addr = state_q == HEAD ? at_q : state_q == TAIL ? at_q + 23'd8 : local_q;
    dma_sram.be = head_mask & tail_mask;
    dma_sram.wdata = mr_data;
  end

  // ---- command of the master ----
  assign mc_valid = state_q == COMMAND && valid;
  assign mc.write = to_pci_q;
  assign mc.addr  = pci_q;
  assign mc.bytes = bytes_q;

  // ---- control ----
  assign finished = state_q == MOVE && over_q && left_q == '0 && due_q == '0;
  assign active   = state_q != IDLE || done;
  always_ff @(posedge clk) begin
    if (rst) begin
      state_q <= IDLE;
      done <= 1'b0;
      cause <= DMA_NONE;
      at_q <= '0;
    end else begin
      done <= 1'b0;
      case (state_q)
        IDLE:
        if (start) begin
          state_q <= HEAD;
          at_q <= descriptor;
        end
        HEAD: if (granted) state_q <= HEADED;
        HEADED: if (dma_read.valid) state_q <= TAIL;
        TAIL: if (granted) state_q <= TAILED;
        TAILED: if (dma_read.valid) state_q <= COMMAND;
        COMMAND:
        if (!valid) begin
          state_q <= IDLE;
          done <= 1'b1;
          cause <= DMA_DESCRIPTOR;
        end else if (mc_ready) state_q <= MOVE;
        MOVE:
        if (finished) begin
          if (!failed_q && next_q != '0) begin
            state_q <= HEAD;
            at_q <= next_q;
          end else begin
            state_q <= IDLE;
            done <= 1'b1;
            if (failed_q) cause <= DMA_ABORT;
            else cause <= DMA_NONE;
          end
        end
        default: state_q <= IDLE;
      endcase
    end
  end
  always_ff @(posedge clk) begin
    if (rst) begin
      {next_q, pci_q, local_q, offset_q, bytes_q, to_pci_q} <= '0;
      {over_q, failed_q, first_q, left_q, due_q} <= '0;
    end else begin
      if (state_q == HEADED && dma_read.valid) begin
        next_q <= {dma_read.data[22:3], 3'd0};
        pci_q  <= dma_read.data[63:32];
      end
      if (state_q == TAILED && dma_read.valid) begin
        local_q  <= {dma_read.data[22:3], 3'd0};
        offset_q <= dma_read.data[2:0];
        bytes_q  <= dma_read.data[47:32];
        to_pci_q <= dma_read.data[63];
      end
      if (state_q == COMMAND) begin
        left_q   <= {1'b0, bytes_q} + {14'd0, offset_q};
        first_q  <= 1'b1;
        over_q   <= 1'b0;
        failed_q <= 1'b0;
      end else begin
        if (moved) begin
          left_q  <= left_q < 17'd8 ? '0 : left_q - 17'd8;
          local_q <= local_q + 23'd8;
          first_q <= 1'b0;
        end
        if (m_done) begin
          over_q   <= 1'b1;
          failed_q <= m_error;
        end
      end
      due_q <= due_q + 3'(ask && moved) - 3'(beat_out);
    end
  end

  assign busy = state_q != IDLE || start || done || hold_busy;

  logic unused;
  assign unused = &{1'b0, hold_ready, level};
endmodule
