// The host DMA of a LANai 4 with a memory, for the word_dma bench.
module sim_word_bench
  import myri_sleep_pkg::*;
  import myri_nic_trace_pkg::*;
  import myri_sram_pkg::*;
(
    input  logic        clk,               // NIC clock, free-running
    input  logic        rst,               // synchronous reset
    input  logic        sleep,             // 1 = skip unneeded clock edges
    output logic [47:0] cycle,             // index of the edge
    output logic [31:0] edges,             // edges the engine had
    input  logic        allow,             // the memory grants
    input  logic [15:0] cfg_start_clocks,  // start-up of a transfer
    input  logic        hold_reset,        // E-bus reset
    input  logic        w_ear,             // write strobes
    input  logic        w_lar,             // LAR
    input  logic        w_dir,             // DMA_DIR
    input  logic        w_ctr,             // DMA_CTR
    input  logic [31:0] w_data,            // value
    output logic [31:0] ear,               // read value
    output logic [31:0] lar,               // LAR
    output logic        dir,               // DMA_DIR
    output logic [31:0] ctr,               // DMA_CTR
    output logic        set_done,          // strobe: the transfer has finished
    output logic        error,             // strobe: ended by an error
    output logic        misuse,            // strobe: a write was ignored
    output logic        cmd_valid,         // command to the bus master
    input  logic        cmd_ready,         // accepted
    output logic [48:0] cmd_data,          // command
    output logic        wr_valid,          // beat to the bus master
    input  logic        wr_ready,          // accepted
    output logic [63:0] wr_data,           // PCI lanes
    input  logic        rd_valid,          // beat or end of command
    output logic        rd_ready,          // accepted
    input  logic        rd_done,           // end of command
    input  logic        rd_error,          // with an error
    input  logic [63:0] rd_beat,           // PCI lanes
    output logic        tr_start,          // trace: the transfer's data start to move
    output logic        tr_done,           // trace: the transfer has finished
    output logic [31:0] tr_bytes,          // its length
    output logic        in_flight,         // a transfer is active
    output logic        busy               // 1 = a further clock edge is needed
);
  logic run_clk;
  alarm_t alarm;
  sram_request_t sram;
  logic sram_gnt;
  sram_read_t sram_read;
  dma_trace_t trace;
  sleep_t needs;
  assign in_flight = needs.in_flight;
  assign alarm = needs.alarm;
  assign busy = needs.busy;
  logic unused_ok;
  assign {tr_start, tr_done, tr_bytes} = {trace.dma_start, trace.dma_done, trace.dma_bytes};
  assign unused_ok = ^trace;

  sim_gate u_gate (
      .clk,
      .rst,
      .sleep,
      .busy,
      .alarm,
      .cycle,
      .edges,
      .gated(run_clk)
  );

  sim_sram #(
      .SIZE_LOG2(13),
      .WIDTH(32)
  ) u_memory (
      .rst,
      .allow,
      .sram,
      .sram_gnt,
      .sram_read,
      .clk(run_clk)
  );

  myri_word_dma u_dma (
      .rst,
      .cycle,
      .cfg_start_clocks,
      .hold_reset,
      .w_ear,
      .w_lar,
      .w_dir,
      .w_ctr,
      .w_data,
      .ear,
      .lar,
      .dir,
      .ctr,
      .set_done,
      .error,
      .misuse,
      .sram,
      .sram_gnt,
      .sram_read,
      .cmd_valid,
      .cmd_ready,
      .cmd(cmd_data),
      .wr_valid,
      .wr_ready,
      .wr_data,
      .rd_valid,
      .rd_ready,
      .trace,
      .sleep(needs),
      .clk(run_clk),
      .rd({rd_done, rd_error, rd_beat})
  );
endmodule
