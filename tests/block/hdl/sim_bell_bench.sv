// Doorbell unit with a memory, for the doorbell bench.
module sim_bell_bench
  import myri_sleep_pkg::*;
  import myri_nic_trace_pkg::*;
  import myri_sram_pkg::*;
(
    input  logic        clk,          // NIC clock
    input  logic        rst,          // synchronous reset
    input  logic [ 2:0] size,         // FIFO size field: 4 KB << size
    input  logic        multi,        // four FIFOs instead of one
    input  logic [ 3:0] w_base,       // write of base k (value in w_base_data)
    input  logic [23:0] w_base_data,  // SRAM address, aligned to the FIFO's bytes
    input  logic [ 3:0] w_consumer,   // write of consumer k (value in w_data)
    input  logic [16:0] w_data,       // see w_consumer
    output logic [95:0] base,         // 24 bits a FIFO
    output logic [67:0] producer,     // 17 bits a FIFO
    output logic [67:0] consumer,     // 17 bits a FIFO
    input  logic        in_valid,     // a beat for the doorbell region
    output logic        in_ready,     // accepted at the coming edge
    input  logic [23:0] in_addr,      // offset in the PCI region, multiple of 8
    input  logic [ 7:0] in_be,        // lanes written
    input  logic [63:0] in_data,      // byte lanes
    output logic        wake,         // strobe: an entry is in SRAM after this edge
    output logic        overflow,     // strobe: an entry was dropped
    output logic [31:0] overflows,    // dropped since reset
    output logic [31:0] tr_addr,      // with wake and overflow: the entry's address
    output logic [31:0] tr_data,      // and data
    output logic        busy,         // 1 = a further clock edge is needed
    input  logic        sleep,        // 1 = skip unneeded clock edges
    output logic [47:0] cycle,        // index of the coming edge
    output logic [31:0] edges,        // edges the block had
    input  logic        allow         // the memory grants
);
  sram_request_t sram;
  logic sram_gnt;

  logic run_clk;
  sim_gate u_gate (
      .*,
      .alarm(myri_sleep_pkg::NO_ALARM),
      .gated(run_clk)
  );

  sim_sram #(
      .SIZE_LOG2(16)
  ) u_memory (
      .*,
      .sram_read(),
      .clk(run_clk)
  );

  bell_trace_t trace;
  assign {tr_addr, tr_data} = {trace.addr, trace.data};
  logic unused_ok;
  assign unused_ok = trace.doorbell;
  myri_doorbell u_bell (
      .*,
      .clk(run_clk)
  );
endmodule
