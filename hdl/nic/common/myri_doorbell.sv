// Doorbell FIFOs (fact sheet 3.8): each 32-bit write to the doorbell region becomes an entry in SRAM.
//
// Entry: {address, data}, two big-endian 32-bit words; the address is the offset in the card's PCI region. A FIFO has
// 512 << size entries at a base aligned to its bytes. There is one FIFO, or four selected by address bits 13:12
// (`multi`; the selection by these bits is our choice). Producer and consumer are free-running 17-bit numbers; the slot
// is the number modulo the entries. The firmware writes the consumer. An entry for a full FIFO is dropped: `overflow`
// strobes and is counted. Writing a base empties that FIFO.
// Timing: one entry per clock when SRAM grants; a beat with both halves takes two. `wake` comes with the grant.
module myri_doorbell
  import myri_lanai9_pkg::*;
  import myri_nic_trace_pkg::*;
  import myri_sram_pkg::*;
(
    input logic clk,  // NIC clock
    input logic rst,  // synchronous reset
    input logic [2:0] size,  // FIFO size field: 4 KB << size
    input logic multi,  // four FIFOs instead of one
    input logic [3:0] w_base,  // write of base k (value in w_base_data)
    input logic [23:0] w_base_data,  // SRAM address, aligned to the FIFO's bytes
    input logic [3:0] w_consumer,  // write of consumer k (value in w_data)
    input logic [16:0] w_data,  // see w_consumer
    output logic [SIZE_DOORBELL_FIFOS-1:0][23:0] base,  // SRAM address of each FIFO
    output logic [SIZE_DOORBELL_FIFOS-1:0][16:0] producer,  // number of each FIFO
    output logic [SIZE_DOORBELL_FIFOS-1:0][16:0] consumer,  // number of each FIFO
    input logic in_valid,  // a beat for the doorbell region
    output logic in_ready,  // accepted at the coming edge
    input logic [23:0] in_addr,  // offset in the PCI region, multiple of 8
    input logic [7:0] in_be,  // lanes written
    input logic [63:0] in_data,  // byte lanes
    output sram_request_t sram,  // SRAM request: the entry
    input logic sram_gnt,  // grant
    output logic wake,  // strobe: an entry is in SRAM after this edge
    output logic overflow,  // strobe: an entry was dropped
    output logic [31:0] overflows,  // dropped since reset
    output bell_trace_t trace,  // events of this clock
    output logic busy  // 1 = a further clock edge is needed
);
  logic        low_done_q;  // the lower half of this beat is done
  logic        high;  // the half being processed
  logic [31:0] word;  // byte lanes
  logic [31:0] address;  // first word of the entry
  logic [31:0] value;  // second word
  logic [ 1:0] fifo;
  logic [16:0] fill;
  logic [16:0] entries;
  logic [23:0] base_k;
  logic [16:0] producer_k;
  logic [16:0] consumer_k;
  logic [18:0] offset;  // byte offset in the FIFO
  logic        full;
  logic        step;  // this half ends at the coming edge
  logic        last;

  assign high = low_done_q || in_be[3:0] == 4'd0;
  assign last = high || in_be[7:4] == 4'd0;
  assign word = high ? in_data[63:32] & {{8{in_be[7]}}, {8{in_be[6]}}, {8{in_be[5]}}, {8{in_be[4]}}} :
      in_data[31:0] & {{8{in_be[3]}}, {8{in_be[2]}}, {8{in_be[1]}}, {8{in_be[0]}}};
  assign address = {8'd0, in_addr[23:3], high, 2'b00};
  assign value = {word[7:0], word[15:8], word[23:16], word[31:24]};

  assign fifo = multi ? in_addr[13:12] : 2'd0;
  assign base_k = base[fifo];
  assign producer_k = producer[fifo];
  assign consumer_k = consumer[fifo];
  assign entries = 17'd512 << size;
  assign fill = producer_k - consumer_k;
  assign full = fill >= entries;
  assign offset = {producer_k[15:0] & (entries[15:0] - 16'd1), 3'b000};

  assign sram.req = in_valid && in_be != 8'd0 && !full;
  assign sram.write = 1'b1;
  assign sram.addr = base_k[22:0] | {4'd0, offset};
  assign sram.be = 8'hFF;
  assign sram.wdata = {word, address[7:0], address[15:8], address[23:16], address[31:24]};
  assign wake = sram.req && sram_gnt;
  assign trace = {wake, address, value};
  assign overflow = in_valid && in_be != 8'd0 && full;
  assign step = wake || overflow;
  assign in_ready = (step && last) || in_be == 8'd0;
  assign busy = in_valid || w_base != 4'd0 || w_consumer != 4'd0;

  for (genvar k = 0; k < SIZE_DOORBELL_FIFOS; k++) begin : gen_fifo
    always_ff @(posedge clk) begin
      if (rst) begin
        base[k] <= 24'd0;
        producer[k] <= 17'd0;
        consumer[k] <= 17'd0;
      end else if (w_base[k]) begin
        base[k] <= w_base_data;
        producer[k] <= 17'd0;
        consumer[k] <= 17'd0;
      end else begin
        if (wake && fifo == k[1:0]) producer[k] <= producer_k + 17'd1;
        if (w_consumer[k]) consumer[k] <= w_data;
      end
    end
  end

  always_ff @(posedge clk) begin
    if (rst) begin
      low_done_q <= 1'b0;
      overflows  <= 32'd0;
    end else begin
      if (step) low_done_q <= !last;
      if (overflow) overflows <= overflows + 32'd1;
    end
  end

  logic unused_ok;
  assign unused_ok = ^{base_k[23], in_addr[2:0], entries[16]};
endmodule
