// Local bus of the card between the PCI backends and the banks: 32 bits per PCI clock.
//
// A lane group of 8 bytes is two accesses, the low word first. A write skips a word without an enabled byte. Priority:
// the access in progress, writes from the bus, DMA into the banks, reads from the bus, the uplink. A word is accessed
// only while the bus side owns its bank; meanwhile the client waits (the target answers with a retry).
// Timing: a write is done in the clock of its word. Read data arrive two clocks after the request of the second word. A
// client keeps the clock running until it has its answer; the block itself needs no further edge.
module myri_card_local
  import myri_pci_pkg::*;
(
    input  logic              clk,          // PCI clock
    input  logic              rst,          // synchronous reset
    input  logic              tw_valid,     // write beat of the target, banks only
    output logic              tw_ready,     // accepted
    input  pci_write_t        tw,           // the beat, at a byte offset in the banks
    input  logic              dw_valid,     // write beat of the card's DMA
    output logic              dw_ready,     // accepted
    input  logic       [22:0] dw_addr,      // byte offset in the banks, multiple of 8
    input  logic       [63:0] dw_data,      // byte lanes
    input  logic       [ 7:0] dw_be,        // bytes written
    input  logic              tread_valid,  // read of the target
    output logic              tread_ready,  // accepted
    input  pci_read_t         tread,        // the request, at a byte offset in the banks
    output logic              td_valid,     // its data
    input  logic              ur_valid,     // read of the uplink
    output logic              ur_ready,     // accepted
    input  logic       [22:0] ur_addr,      // byte offset in the banks, multiple of 8
    output logic              ud_valid,     // its data
    output logic       [63:0] rdata,        // read data, with td_valid or ud_valid
    output logic       [ 3:0] access,       // banks that a client accesses in this clock
    input  logic       [ 3:0] host_owns,    // banks that the bus side owns
    output logic              mem_valid,    // access of a bank
    output logic              mem_write,    // 1 = write
    output logic       [22:0] mem_addr,     // byte offset in the banks, multiple of 4
    output logic       [31:0] mem_wdata,    // write data
    output logic       [ 3:0] mem_be,       // bytes written
    input  logic       [31:0] mem_rdata     // read data, one clock later
);
  typedef enum logic [1:0] {
    TARGET_WRITE,
    DMA_WRITE,
    TARGET_READ,
    UPLINK_READ
  } client_t;

  // ---- served client ----
  logic upper_q;  // the high word of a lane group is next
  client_t last_client_q, client;
  logic any;
  always_comb begin
    any = 1'b1;
    client = last_client_q;
    if (!upper_q) begin
      if (tw_valid) client = TARGET_WRITE;
      else if (dw_valid) client = DMA_WRITE;
      else if (tread_valid) client = TARGET_READ;
      else if (ur_valid) client = UPLINK_READ;
      else any = 1'b0;
    end
  end

  logic [22:0] addr;
  logic [63:0] data;
  logic [ 7:0] be;
  logic        write;
  assign write = client == TARGET_WRITE || client == DMA_WRITE;
  always_comb begin
    addr = tw.addr[22:0];
    data = tw.data;
    be   = tw.be;
    if (client == DMA_WRITE) begin
      addr = dw_addr;
      data = dw_data;
      be   = dw_be;
    end
    if (client == TARGET_READ) addr = tread.addr[22:0];
    if (client == UPLINK_READ) addr = ur_addr;
  end

  // ---- the word ----
  logic high, owned, go, done, only_low;
  assign only_low = write && be[7:4] == 4'd0;
  assign high = upper_q || (write && be[3:0] == 4'd0);
  assign access = any ? 4'd1 << addr[22:21] : 4'd0;
  assign owned = (access & host_owns) != '0;
  assign go = any && owned;
  assign done = go && (high || only_low);
  assign mem_valid = go;
  assign mem_write = write;
  assign mem_addr = {addr[22:3], high, 2'd0};
  assign mem_wdata = high ? data[63:32] : data[31:0];
  assign mem_be = high ? be[7:4] : be[3:0];
  assign tw_ready = done && client == TARGET_WRITE;
  assign dw_ready = done && client == DMA_WRITE;
  assign tread_ready = done && client == TARGET_READ;
  assign ur_ready = done && client == UPLINK_READ;

  always_ff @(posedge clk) begin
    if (rst) begin
      upper_q <= 1'b0;
      last_client_q <= TARGET_WRITE;
    end else if (go) begin
      upper_q <= !done;
      last_client_q <= client;
    end
  end

  // ---- read data ----
  logic low_due_q, target_due_q, uplink_due_q;
  logic [31:0] low_q;
  always_ff @(posedge clk) begin
    if (rst) begin
      low_due_q <= 1'b0;
      target_due_q <= 1'b0;
      uplink_due_q <= 1'b0;
      low_q <= '0;
    end else begin
      low_due_q <= go && !write && !high;
      target_due_q <= tread_ready;
      uplink_due_q <= ur_ready;
      if (low_due_q) low_q <= mem_rdata;
    end
  end
  always_ff @(posedge clk) begin
    if (rst) begin
      td_valid <= 1'b0;
      ud_valid <= 1'b0;
      rdata <= '0;
    end else begin
      td_valid <= target_due_q;
      ud_valid <= uplink_due_q;
      if (target_due_q || uplink_due_q) rdata <= {mem_rdata, low_q};
    end
  end

  logic unused;
  assign unused = &{1'b0, addr[2:0], tw.addr[31:23], tread.addr[31:23], tread.bytes, tread.first};
endmodule
