// Bus master functions of the card: results into the channel's queue in the NIC, read pointers of the queues, and DMA
// from the host.
//
// A result starts at offset 0 of bank 2: 8 bytes for the route, the header, the payload. It is copied after the back
// pointer of the NIC's ring once it fits, then the pointer is written. The front pointer is read only when needed,
// repeatedly with cfg_pause clocks between. Ring rule: a message begins below the limit; the next one begins after its
// end, or at 0. front = back means empty. The first segment of a long message to another card waits until it is empty.
// Jobs are done in order; DMA runs between jobs. Into the configuration port it goes in pieces of CARD_CONFIG_PIECE
// bytes: each begins when the port has room for it, so the bus is not held meanwhile, and alternates with waiting jobs.
module myri_card_uplink
  import myri_card_pkg::*;
  import myri_pci_pkg::*;
(
    input logic clk,  // PCI clock
    input logic rst,  // synchronous reset
    input logic [7:0] cfg_pause,  // clocks between two polls of a full queue
    input logic job_valid,  // a job of the shell
    output logic job_ready,  // it has finished
    input card_job_t job,  // the job
    input logic [31:0] nic_queue,  // PCI addresses and limit, see CardReg
    input logic [23:0] nic_limit,  // as NIC_LIMIT
    input logic [31:0] nic_back,  // as NIC_BACK
    input logic [31:0] nic_front,  // as NIC_FRONT
    input logic [31:0] nic_read0,  // as NIC_READ0
    input logic [31:0] nic_read1,  // as NIC_READ1
    input logic dma_start,  // strobe: start a DMA transfer
    input logic [31:0] dma_source,  // byte address in the host
    input logic [23:0] dma_target,  // byte offset in the window, equal to the source modulo 8
    input logic [15:0] dma_bytes,  // 1..65535
    output logic dma_active,  // the transfer is unfinished
    output logic dma_config,  // it goes to the configuration port
    input logic room,  // which has room for a piece
    output logic sent,  // strobe: a result is in the NIC's memory
    output logic ur_valid,  // read of bank 2
    input logic ur_ready,  // accepted
    output logic [22:0] ur_addr,  // byte offset in the banks
    input logic ud_valid,  // its data
    input logic [63:0] ud_data,  // byte lanes
    output logic dw_valid,  // write into the banks or the configuration port
    input logic dw_ready,  // accepted
    output logic [22:0] dw_addr,  // byte offset in the banks, multiple of 8
    output logic [63:0] dw_data,  // byte lanes
    output logic [7:0] dw_be,  // bytes written
    output logic mc_valid,  // master command
    input logic mc_ready,  // accepted
    output pci_transfer_t mc,  // the command
    output logic mw_valid,  // write beat
    input logic mw_ready,  // accepted
    output logic [63:0] mw_data,  // byte lanes
    input logic mr_valid,  // read beat
    output logic mr_ready,  // accepted
    input logic [63:0] mr_data,  // byte lanes
    input logic m_done,  // strobe: the command has finished
    output logic busy  // 1 = a further clock edge is needed
);
  typedef enum logic [3:0] {
    IDLE,
    FIT,  // check that the result fits
    LOOK,  // request the front pointer
    LOOKED,  // wait for the answer
    PAUSE,  // the queue is full
    COPY,  // request a write of the message
    COPYING,  // write its beats
    POINT,  // request a write of a pointer
    POINTING,  // write its beat
    FETCH,  // DMA: request a read
    FETCHING  // write its beats
  } state_t;
  localparam logic [22:0] OUTBOX = 23'h400000;  // bank 2

  state_t state_q;
  logic [23:0] front_q, back_q, size, next_back, end_of;
  logic [7:0] pause_q;
  logic over_q, fits, seen_q, is_result;
  logic [31:0] from_q;  // DMA: source of the next piece
  logic [15:0] rest_q, piece;  // bytes of the transfer that are left, and of the next piece
  logic dma_next, fetched;
  logic job_turn_q;  // a waiting job precedes the next piece
  logic got_q;  // the last beat of a read was taken

  function automatic logic [31:0] swap(input logic [31:0] word);
    swap = {word[7:0], word[15:8], word[23:16], word[31:24]};
  endfunction

  // ---- room in the NIC's ring ----
  assign size = job.value;
  assign end_of = back_q + size;
  assign is_result = job.kind == JOB_RESULT || job.kind == JOB_FIRST;
  always_comb begin
    fits = back_q < front_q ? end_of < front_q : (end_of < nic_limit || front_q != '0);
    if (job.kind == JOB_FIRST) fits = front_q == back_q;
  end
  assign next_back = end_of < nic_limit ? end_of : '0;

  // ---- commands ----
  logic [31:0] pointer_at, pointer;
  always_comb begin
    pointer_at = nic_back;
    pointer = {8'd0, back_q};
    if (job.kind == JOB_READ0) pointer_at = nic_read0;
    if (job.kind == JOB_READ1) pointer_at = nic_read1;
    if (!is_result) pointer = {8'd0, job.value};
  end

  always_comb begin
    mc.addr  = nic_front;
    mc.bytes = 16'd4;
    mc.write = 1'b0;
    case (state_q)
      COPY: begin
        mc.addr  = nic_queue + {8'd0, back_q} + 32'd8;
        mc.bytes = 16'(size - 24'd8);
        mc.write = 1'b1;
      end
      POINT: begin
        mc.addr  = pointer_at;
        mc.write = 1'b1;
      end
      FETCH: begin
        mc.addr  = from_q;
        mc.bytes = piece;
      end
      default: ;
    endcase
  end
  assign mc_valid = state_q == LOOK || state_q == COPY || state_q == POINT || state_q == FETCH;

  always_ff @(posedge clk) begin
    if (rst) state_q <= IDLE;
    else begin
      case (state_q)
        IDLE:
        if (dma_next) state_q <= FETCH;
        else if (job_valid) state_q <= is_result ? FIT : POINT;
        FIT:
        if (fits) state_q <= COPY;
        else if (seen_q) state_q <= PAUSE;
        else state_q <= LOOK;
        LOOK: if (mc_ready) state_q <= LOOKED;
        LOOKED: if (over_q && got_q) state_q <= FIT;
        PAUSE: if (pause_q == '0) state_q <= LOOK;
        COPY: if (mc_ready) state_q <= COPYING;
        COPYING: if (over_q) state_q <= POINT;
        POINT: if (mc_ready) state_q <= POINTING;
        POINTING: if (over_q) state_q <= IDLE;
        FETCH: if (mc_ready) state_q <= FETCHING;
        FETCHING: if (over_q && got_q) state_q <= IDLE;
        default: state_q <= IDLE;
      endcase
    end
  end
  assign job_ready = state_q == POINTING && over_q;
  assign sent = job_ready && is_result;

  always_ff @(posedge clk) begin
    if (rst) over_q <= 1'b0;
    else over_q <= m_done || (over_q && !mc_valid);
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      seen_q  <= 1'b0;
      pause_q <= '0;
    end else begin
      if (state_q == IDLE) seen_q <= 1'b0;
      else if (state_q == LOOKED) seen_q <= 1'b1;
      pause_q <= state_q == PAUSE ? pause_q - 8'd1 : cfg_pause;
    end
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      front_q <= '0;
      back_q  <= '0;
    end else begin
      if (state_q == LOOKED && mr_valid)
        front_q <= 24'(swap(nic_front[2] ? mr_data[63:32] : mr_data[31:0]));
      if (state_q == COPYING && over_q) back_q <= next_back;
    end
  end

  // ---- the copied message: bank 2 to the beats of the master ----
  logic [23:0] asked_q;  // next byte of the message to request
  logic [ 2:0] due_q;  // beats requested or held
  logic beat_in, beat_out, hold_ready, hold_valid, hold_busy;
  logic [63:0] hold_data;
  logic [ 2:0] level;
  assign ur_valid = state_q == COPYING && asked_q < size && due_q < 3'd4;
  assign ur_addr  = OUTBOX + asked_q[22:0];
  assign beat_in  = ur_valid && ur_ready;
  assign beat_out = hold_valid && mw_ready && state_q == COPYING;
  always_ff @(posedge clk) begin
    if (rst) begin
      asked_q <= 24'd8;
      due_q   <= '0;
    end else begin
      if (state_q != COPYING) asked_q <= 24'd8;
      else if (beat_in) asked_q <= asked_q + 24'd8;
      due_q <= due_q + 3'(beat_in) - 3'(beat_out);
    end
  end
  myri_fifo #(
      .WIDTH(64),
      .DEPTH_LOG2(2)
  ) u_hold (
      .clk,
      .rst,
      .w_valid(ud_valid),
      .w_ready(hold_ready),
      .w_data (ud_data),
      .r_valid(hold_valid),
      .r_ready(beat_out),
      .r_data (hold_data),
      .level  (level),
      .busy   (hold_busy)
  );
  logic pointed_q;  // the pointer's only beat was sent
  always_ff @(posedge clk) begin
    if (rst) pointed_q <= 1'b0;
    else pointed_q <= state_q == POINTING && (pointed_q || mw_ready);
  end
  assign mw_valid = state_q == COPYING ? hold_valid : state_q == POINTING && !pointed_q;
  assign mw_data  = state_q == COPYING ? hold_data : {swap(pointer), swap(pointer)};

  // ---- DMA: beats of the master into the banks ----
  logic [16:0] left_q;  // bytes expected, from the first byte of the lane group on
  logic [22:0] at_q;
  logic first_q;
  logic [7:0] head_mask, tail_mask;
  assign head_mask = first_q ? 8'hFF << from_q[2:0] : 8'hFF;
  assign tail_mask = left_q < 17'd8 ? ~(8'hFF << left_q[2:0]) : 8'hFF;
  assign dw_valid  = state_q == FETCHING && mr_valid;
  assign dw_addr   = {at_q[22:3], 3'd0};
  assign dw_data   = mr_data;
  assign dw_be     = head_mask & tail_mask;
  assign mr_ready  = state_q == LOOKED || (state_q == FETCHING && dw_ready);
  always_ff @(posedge clk) begin
    if (rst) begin
      left_q  <= '0;
      at_q    <= '0;
      first_q <= 1'b0;
    end else if (state_q == FETCH) begin
      left_q  <= {1'b0, piece} + {14'd0, from_q[2:0]};
      at_q    <= dma_target[22:0];
      first_q <= 1'b1;
    end else if (dw_valid && dw_ready) begin
      left_q  <= left_q - 17'd8;
      at_q    <= at_q + 23'd8;
      first_q <= 1'b0;
    end
  end
  always_ff @(posedge clk) begin
    if (rst) got_q <= 1'b0;
    else if (mc_valid) got_q <= 1'b0;
    else if (mr_valid && mr_ready && (state_q == LOOKED || left_q <= 17'd8)) got_q <= 1'b1;
  end
  always_ff @(posedge clk) begin
    if (rst) dma_active <= 1'b0;
    else if (dma_start) dma_active <= 1'b1;
    else if (fetched && rest_q == piece) dma_active <= 1'b0;
  end

  // ---- DMA: pieces of a transfer into the configuration port ----
  assign dma_config = dma_target[23:22] == 2'b11;
  assign fetched = state_q == FETCHING && over_q && got_q;
  assign dma_next = dma_active && (!dma_config || (room && !(job_valid && job_turn_q)));
  assign piece = dma_config && rest_q > 16'(CARD_CONFIG_PIECE) ? 16'(CARD_CONFIG_PIECE) - {13'd0, from_q[2:0]} : rest_q;
  always_ff @(posedge clk) begin
    if (rst) begin
      from_q <= '0;
      rest_q <= '0;
      job_turn_q <= 1'b0;
    end else if (dma_start) begin
      from_q <= dma_source;
      rest_q <= dma_bytes;
      job_turn_q <= 1'b0;
    end else begin
      if (fetched) begin
        from_q <= from_q + {16'd0, piece};
        rest_q <= rest_q - piece;
      end
      if (fetched) job_turn_q <= 1'b1;
      else if (job_ready) job_turn_q <= 1'b0;
    end
  end

  assign busy = state_q != IDLE || job_valid || dma_active || dma_start || hold_busy;

  logic unused;
  assign unused = &{1'b0, hold_ready, level};
endmodule
