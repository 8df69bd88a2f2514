// Host DMA engine with a memory, for the host_dma bench, which acts as the PCI side.
module sim_dma_bench
  import myri_sleep_pkg::*;
  import myri_nic_trace_pkg::*;
  import myri_sram_pkg::*;
(
    input logic clk,  // NIC clock
    input logic rst,  // synchronous reset
    input logic [15:0] cfg_start_clocks,  // start-up of a block
    input logic hold_reset,  // E-bus reset
    input logic [3:0] pulse,  // strobes: start or continue chain k
    input logic [3:0] w_list,  // strobes: load the current block of chain k
    input logic [23:0] w_data,  // SRAM address of the block
    output logic [95:0] list,  // 24 bits a chain: current block
    output logic [127:0] progress,  // 32 bits a chain: bytes moved of its latest block
    output logic [31:0] status,  // {.., 8: block active, 5:4: its chain, 3:0: chains running}
    output logic [1:0] set_wake,  // strobes: WAKE1, WAKE2
    output logic error,  // strobe: chain stopped by an error
    output logic [1:0] chain,  // chain of the active block
    output logic cmd_valid,  // command to the PCI side
    input logic cmd_ready,  // accepted
    output logic [48:0] cmd_data,  // command
    output logic wr_valid,  // beat to the PCI side
    input logic wr_ready,  // accepted
    output logic [63:0] wr_data,  // PCI lanes
    input logic rd_valid,  // beat or end of command from the PCI side
    output logic rd_ready,  // accepted
    output logic tr_start,  // trace: a block starts to move
    output logic tr_done,  // trace: a block is done
    output logic tr_e2l,  // direction of the block, with both
    output logic [31:0] tr_bytes,  // length of the transfer, with both
    output logic [22:0] tr_lar,  // SRAM address of the block, with both
    output logic in_flight,  // a block is active
    output alarm_t alarm,  // alarm of the start-up delay
    output logic busy,  // 1 = a further clock edge is needed
    input logic allow,  // the memory grants
    input logic sleep,  // 1 = skip unneeded clock edges
    output logic [47:0] cycle,  // index of the coming edge
    output logic [31:0] edges,  // edges the block had
    input logic rd_done,  // end of a command
    input logic rd_error,  // with it: ended by an abort
    input logic [63:0] rd_beat  // byte lanes
);
  sram_request_t sram;
  logic sram_gnt;
  sram_read_t sram_read;
  dma_trace_t trace;
  sleep_t needs;
  assign in_flight = needs.in_flight;
  assign alarm = needs.alarm;
  assign busy = needs.busy;
  assign {tr_start, tr_done, tr_e2l, tr_bytes, tr_lar} = {
    trace.dma_start, trace.dma_done, trace.dma_e2l, trace.dma_bytes, trace.dma_lar
  };

  logic run_clk;
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
      .SIZE_LOG2(13)
  ) u_memory (
      .rst,
      .allow,
      .sram,
      .sram_gnt,
      .sram_read,
      .clk(run_clk)
  );

  myri_host_dma u_dma (
      .rst,
      .cycle,
      .cfg_start_clocks,
      .hold_reset,
      .pulse,
      .w_list,
      .w_data,
      .list,
      .progress,
      .status,
      .set_wake,
      .error,
      .chain,
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
