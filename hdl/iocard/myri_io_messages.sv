// Message unit of the I/O card by the I2O model: two ports for hosts, four queues of message frame addresses (MFAs) in
// local memory, doorbells in both directions, and interrupts with masks.
//
// A host takes an empty inbound frame by a read of INBOUND_PORT, fills it and posts it by a write; it takes a reply by a
// read of OUTBOUND_PORT and returns its frame by a write. The oldest entry of a queue that a host reads is fetched from
// local memory ahead. A read of a port waits for that fetch; the entry leaves its queue when `port_read` reports the data
// phase. The processor's side of each queue is software: it accesses the entries in memory and moves its pointer.
// Timing: a register is written in the clock of its word, an entry in the clock of its grant. Read data come one clock
// after an accepted read.
module myri_io_messages
  import myri_io_pkg::*;
  import myri_sram_pkg::*;
(
    input logic clk,  // PCI clock
    input logic rst,  // synchronous reset
    input logic hw_valid,  // host writes a register
    output logic hw_ready,  // accepted
    input logic [11:0] hw_addr,  // byte offset, multiple of 8
    input logic [63:0] hw_data,  // byte lanes
    input logic [7:0] hw_be,  // bytes written; a register takes whole words only
    input logic hr_valid,  // host reads a pair of registers
    output logic hr_ready,  // accepted
    input logic [11:0] hr_addr,  // byte offset, multiple of 8
    output logic [63:0] hr_data,  // byte lanes, one clock later
    input logic [1:0] port_read,  // strobes: a host has read the inbound port (0), the outbound port (1)
    input logic cpu_req,  // the processor accesses a register, always granted
    input logic cpu_write,  // 1 = write
    input logic [11:0] cpu_addr,  // byte offset, multiple of 4
    input logic [31:0] cpu_wdata,  // write data
    output logic [31:0] cpu_rdata,  // read data, one clock later
    output sram_request_t queue_sram,  // access of an entry in local memory
    input logic queue_gnt,  // granted
    input sram_read_t queue_read,  // data read
    output logic dma_start,  // strobe: start a chain of descriptors
    output logic [22:0] dma_descriptor,  // local address of the first one, multiple of 8
    input logic dma_active,  // the chain is unfinished
    input logic dma_done,  // strobe: it has finished
    input io_dma_cause_t dma_cause,  // with dma_done: how
    output logic inta,  // level: interrupt of the host
    output logic cpu_irq,  // level: interrupt of the processor
    output logic busy  // 1 = a further clock edge is needed
);
  // ---- settings of the queues ----
  logic enabled_q, clear;
  logic [ 4:0] log2_q;
  logic [22:0] queues_q;
  logic [15:0] mask;
  assign mask = 16'((17'd1 << log2_q) - 17'd1);

  // ---- the written word of the host ----
  logic upper_q, high, only_low, whole, take, h_blocked, port, posts, h_in, h_out;
  logic [31:0] h_word;
  logic [11:0] h_addr;
  assign only_low = hw_be[7:4] == 4'd0;
  assign high = upper_q || hw_be[3:0] == 4'd0;
  assign h_addr = {hw_addr[11:3], high, 2'd0};
  assign h_word = high ? hw_data[63:32] : hw_data[31:0];
  assign whole = (high ? hw_be[7:4] : hw_be[3:0]) == 4'hF;
  assign h_in = h_addr == {4'd0, IO_INBOUND_PORT};
  assign h_out = h_addr == {4'd0, IO_OUTBOUND_PORT};
  assign port = hw_valid && whole && (h_in || h_out);
  assign take = hw_valid && !h_blocked;
  assign hw_ready = take && (high || only_low);
  always_ff @(posedge clk) begin
    if (rst) upper_q <= 1'b0;
    else if (take) upper_q <= !hw_ready;
  end

  // ---- the queues ----
  logic c_write, put_post, put_free, take_free, take_post, post_full, free_full;
  logic [3:0] empty, full, head_write, tail_write;
  logic [3:0][15:0] head, tail;
  logic [3:0] put, pop;
  assign c_write = cpu_req && cpu_write;
  assign clear   = c_write && cpu_addr == {4'd0, IO_CONTROL};
  always_comb begin
    for (int i = 0; i < 4; i++) begin
      head_write[i] = c_write && cpu_addr == {4'd0, IO_INBOUND_FREE_HEAD} + 12'(8 * i);
      tail_write[i] = c_write && cpu_addr == {4'd0, IO_INBOUND_FREE_TAIL} + 12'(8 * i);
    end
  end
  assign put = {
    put_free, 1'b0, put_post, 1'b0
  };  // outbound free, outbound post, inbound post, inbound free
  assign pop = {1'b0, take_post, 1'b0, take_free};
  for (genvar i = 0; i < 4; i++) begin : gen_queue
    myri_io_queue u_queue (
        .clk,
        .rst,
        .mask,
        .clear,
        .put(put[i]),
        .take(pop[i]),
        .head_write(head_write[i]),
        .tail_write(tail_write[i]),
        .value(cpu_wdata[15:0]),
        .head(head[i]),
        .tail(tail[i]),
        .empty(empty[i]),
        .full(full[i])
    );
  end
  assign post_full = full[QUEUE_INBOUND_POST] || !enabled_q;
  assign free_full = full[QUEUE_OUTBOUND_FREE] || !enabled_q;

  // ---- entries: writes of a host, and the oldest entry of the two queues that a host reads ----
  logic writes, overrun, in_wants, out_wants, due_q, due_out_q, due_valid_q, fetches;
  logic in_held_q, out_held_q, in_offered_q, out_offered_q, in_drop, out_drop;
  logic [31:0] in_entry_q, out_entry_q;
  io_queue_t which;
  logic [15:0] index;
  logic [22:0] entry_addr;
  assign posts = port && !clear;
  assign overrun = posts && (h_in ? post_full : free_full);
  assign writes = posts && !overrun;
  assign h_blocked = port && (clear || (writes && !queue_gnt));
  assign put_post = writes && queue_gnt && h_in;
  assign put_free = writes && queue_gnt && h_out;
  assign in_wants = enabled_q && !empty[QUEUE_INBOUND_FREE] && !in_held_q && !in_drop;
  assign out_wants = enabled_q && !empty[QUEUE_OUTBOUND_POST] && !out_held_q && !out_drop;
  assign fetches = (in_wants || out_wants) && !due_q;
  always_comb begin
    which = QUEUE_OUTBOUND_POST;
    index = tail[QUEUE_OUTBOUND_POST];
    if (writes && h_in) begin
      which = QUEUE_INBOUND_POST;
      index = head[QUEUE_INBOUND_POST];
    end else if (writes) begin
      which = QUEUE_OUTBOUND_FREE;
      index = head[QUEUE_OUTBOUND_FREE];
    end else if (in_wants) begin
      which = QUEUE_INBOUND_FREE;
      index = tail[QUEUE_INBOUND_FREE];
    end
  end
  assign entry_addr = queues_q + (23'(which) << (log2_q + 5'd2)) + {5'd0, index, 2'd0};
  assign queue_sram.req = writes || fetches;
  assign queue_sram.write = writes;
  assign queue_sram.addr = {entry_addr[22:3], 3'd0};
  assign queue_sram.be = entry_addr[2] ? 8'hF0 : 8'h0F;
  assign queue_sram.wdata = {h_word, h_word};
  assign in_drop = clear || tail_write[QUEUE_INBOUND_FREE] || take_free;
  assign out_drop = clear || tail_write[QUEUE_OUTBOUND_POST] || take_post;

  logic due_high_q;  // the fetched entry is in the upper word of its lane group
  logic [31:0] fetched;
  assign fetched = due_high_q ? queue_read.data[63:32] : queue_read.data[31:0];
  always_ff @(posedge clk) begin
    if (rst) begin
      {due_q, due_out_q, due_valid_q, due_high_q, in_held_q, out_held_q} <= '0;
      in_entry_q <= '0;
      out_entry_q <= '0;
    end else begin
      due_q <= fetches && !writes && queue_gnt;
      if (fetches && !writes && queue_gnt) begin
        due_out_q   <= !in_wants;
        due_high_q  <= entry_addr[2];
        due_valid_q <= in_wants ? !in_drop : !out_drop;
      end
      if (in_drop) in_held_q <= 1'b0;
      else if (queue_read.valid && due_valid_q && !due_out_q) in_held_q <= 1'b1;
      if (out_drop) out_held_q <= 1'b0;
      else if (queue_read.valid && due_valid_q && due_out_q) out_held_q <= 1'b1;
      if (queue_read.valid && !due_out_q) in_entry_q <= fetched;
      if (queue_read.valid && due_out_q) out_entry_q <= fetched;
    end
  end

  // ---- ports as the host reads them ----
  // The target may fetch a port's value and discard it, so the entry leaves the queue with the data phase. The value is
  // noted as offered: a queue that was empty at the fetch loses nothing.
  logic at_ports, settled, offers;
  assign at_ports = hr_addr == {4'd0, IO_INBOUND_PORT};
  assign settled = !in_wants && !out_wants && !in_drop && !out_drop && !due_q && port_read == '0;
  assign hr_ready = hr_valid && (!at_ports || settled);
  assign offers = hr_ready && at_ports;
  assign take_free = port_read[0] && in_offered_q;
  assign take_post = port_read[1] && out_offered_q;
  always_ff @(posedge clk) begin
    if (rst || clear) {in_offered_q, out_offered_q} <= '0;
    else begin
      if (offers) in_offered_q <= in_held_q;
      else if (take_free || tail_write[QUEUE_INBOUND_FREE]) in_offered_q <= 1'b0;
      if (offers) out_offered_q <= out_held_q;
      else if (take_post || tail_write[QUEUE_OUTBOUND_POST]) out_offered_q <= 1'b0;
    end
  end

  // ---- registers ----
  logic [31:0] inbound_bell_q, outbound_bell_q, bell_set, bell_clear, out_set, out_clear, own_clear;
  logic [7:0] inbound_mask_q, inbound_status, events_q;
  logic [3:0] outbound_mask_q, outbound_status;
  logic [1:0] cause_q;
  logic host_word;
  assign host_word = take && whole;
  assign bell_set = host_word && h_addr == {4'd0, IO_INBOUND_DOORBELL} ? h_word : '0;
  assign out_clear = host_word && h_addr == {4'd0, IO_OUTBOUND_DOORBELL} ? h_word : '0;
  assign bell_clear = c_write && cpu_addr == {4'd0, IO_INBOUND_DOORBELL} ? cpu_wdata : '0;
  assign out_set = c_write && cpu_addr == {4'd0, IO_OUTBOUND_DOORBELL} ? cpu_wdata : '0;
  assign own_clear = c_write && cpu_addr == {4'd0, IO_INBOUND_STATUS} ? cpu_wdata : '0;
  always_comb begin
    logic [7:0] inbound;
    logic [3:0] outbound;
    inbound = events_q;
    inbound[INBOUND_DOORBELL] = inbound_bell_q != '0;
    inbound[INBOUND_POST] = enabled_q && !empty[QUEUE_INBOUND_POST];
    inbound_status = inbound;
    outbound = '0;
    outbound[OUTBOUND_DOORBELL] = outbound_bell_q != '0;
    outbound[OUTBOUND_POST] = enabled_q && !empty[QUEUE_OUTBOUND_POST];
    outbound_status = outbound;
  end
  assign inta = (outbound_status & ~outbound_mask_q) != '0;
  assign cpu_irq = (inbound_status & ~inbound_mask_q) != '0;
  always_ff @(posedge clk) begin
    if (rst) begin
      inbound_bell_q <= '0;
      outbound_bell_q <= '0;
      inbound_mask_q <= '1;
      outbound_mask_q <= '1;
      events_q <= '0;
      cause_q <= '0;
    end else begin
      inbound_bell_q  <= (inbound_bell_q & ~bell_clear) | bell_set;
      outbound_bell_q <= (outbound_bell_q & ~out_clear) | out_set;
      if (host_word && h_addr == {4'd0, IO_OUTBOUND_MASK}) outbound_mask_q <= h_word[3:0];
      if (c_write && cpu_addr == {4'd0, IO_INBOUND_MASK}) inbound_mask_q <= cpu_wdata[7:0];
      events_q[INBOUND_OVERRUN] <= overrun || (events_q[INBOUND_OVERRUN] && !own_clear[INBOUND_OVERRUN]);
      events_q[INBOUND_DMA_DONE] <= (dma_done && dma_cause == DMA_NONE)
          || (events_q[INBOUND_DMA_DONE] && !own_clear[INBOUND_DMA_DONE]);
      events_q[INBOUND_DMA_ERROR] <= (dma_done && dma_cause != DMA_NONE)
          || (events_q[INBOUND_DMA_ERROR] && !own_clear[INBOUND_DMA_ERROR]);
      if (dma_done) cause_q <= dma_cause;
    end
  end
  always_ff @(posedge clk) begin
    if (rst) begin
      enabled_q <= 1'b0;
      log2_q <= 5'd2;
      queues_q <= '0;
      dma_start <= 1'b0;
      dma_descriptor <= '0;
    end else begin
      dma_start <= 1'b0;
      if (c_write) begin
        case (cpu_addr)
          {
            4'd0, IO_CONTROL
          } : begin
            enabled_q <= cpu_wdata[0];
            log2_q <= cpu_wdata[12:8] < 5'd2 ? 5'd2 : cpu_wdata[12:8] > 5'd16 ? 5'd16 : cpu_wdata[12:8];
          end
          {4'd0, IO_QUEUES} : queues_q <= {cpu_wdata[22:3], 3'd0};
          {
            4'd0, IO_DMA_DESCRIPTOR
          } :
          if (!dma_active) begin
            dma_start <= 1'b1;
            dma_descriptor <= {cpu_wdata[22:3], 3'd0};
          end
          default: ;
        endcase
      end
    end
  end

  // ---- reads ----
  logic [31:0] cpu_value;
  always_comb begin
    cpu_value = '0;
    case (cpu_addr)
      {4'd0, IO_INBOUND_DOORBELL} : cpu_value = inbound_bell_q;
      {4'd0, IO_INBOUND_STATUS} : cpu_value = {24'd0, inbound_status};
      {4'd0, IO_INBOUND_MASK} : cpu_value = {24'd0, inbound_mask_q};
      {4'd0, IO_OUTBOUND_DOORBELL} : cpu_value = outbound_bell_q;
      {4'd0, IO_OUTBOUND_STATUS} : cpu_value = {28'd0, outbound_status};
      {4'd0, IO_CONTROL} : cpu_value = {19'd0, log2_q, 7'd0, enabled_q};
      {4'd0, IO_QUEUES} : cpu_value = {9'd0, queues_q};
      {4'd0, IO_DMA_DESCRIPTOR} : cpu_value = {9'd0, dma_descriptor};
      {4'd0, IO_DMA_STATUS} : cpu_value = {22'd0, cause_q, 7'd0, dma_active || dma_start};
      default:
      if (cpu_addr[11:5] == {4'd0, IO_INBOUND_FREE_HEAD[7:5]})
        cpu_value = {16'd0, cpu_addr[2] ? tail[cpu_addr[4:3]] : head[cpu_addr[4:3]]};
    endcase
  end
  logic [31:0] read_low, read_high;
  always_comb begin
    read_low  = '0;
    read_high = '0;
    case (hr_addr)
      {4'd0, IO_INBOUND_DOORBELL} : read_low = inbound_bell_q;
      {
        4'd0, IO_INBOUND_MASK
      } :
      read_high = outbound_bell_q;  // the doorbell is the upper word of this pair
      {
        4'd0, IO_OUTBOUND_STATUS
      } : begin
        read_low  = {28'd0, outbound_status};
        read_high = {28'd0, outbound_mask_q};
      end
      {
        4'd0, IO_INBOUND_PORT
      } : begin
        read_low  = in_held_q ? in_entry_q : IO_EMPTY;
        read_high = out_held_q ? out_entry_q : IO_EMPTY;
      end
      default: ;
    endcase
  end
  always_ff @(posedge clk) begin
    if (rst) begin
      hr_data   <= '0;
      cpu_rdata <= '0;
    end else begin
      if (hr_ready) hr_data <= {read_high, read_low};
      if (cpu_req && !cpu_write) cpu_rdata <= cpu_value;
    end
  end

  assign busy = hw_valid || hr_valid || cpu_req || queue_sram.req || due_q || port_read != '0 || dma_start || dma_done;

  logic unused;
  assign unused = &{1'b0, full[QUEUE_INBOUND_FREE], full[QUEUE_OUTBOUND_POST], empty[QUEUE_OUTBOUND_FREE],
                    entry_addr[1:0], hw_addr[2:0], cpu_wdata[31:23]};
endmodule
