// The host DMA of a LANai 4 with a memory, for the word_dma bench.
module sim_word_bench (
    input  logic        clk,               // NIC clock, free-running
    input  logic        rst,               // synchronous reset
    input  logic        sleep,             // skip edges that nobody needs
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
    output logic [31:0] ear,               // as read
    output logic [31:0] lar,               // LAR
    output logic        dir,               // DMA_DIR
    output logic [31:0] ctr,               // DMA_CTR
    output logic        set_done,          // strobe: the transfer is over
    output logic        error,             // strobe: ended by an error
    output logic        misuse,            // strobe: a write was ignored
    output logic        cmd_valid,         // command to the bus master
    input  logic        cmd_ready,         // taken
    output logic [48:0] cmd_data,          // the command
    output logic        wr_valid,          // beat to the bus master
    input  logic        wr_ready,          // taken
    output logic [63:0] wr_data,           // PCI lanes
    input  logic        rd_valid,          // beat or end of command
    output logic        rd_ready,          // taken
    input  logic        rd_done,           // end of command
    input  logic        rd_error,          // with an error
    input  logic [63:0] rd_beat,           // PCI lanes
    output logic        tr_start,          // trace: the transfer starts to move
    output logic        tr_done,           // trace: it is over
    output logic [31:0] tr_bytes,          // its length
    output logic        in_flight,         // a transfer is in work
    output logic        busy               // another edge is needed
);
  logic req, gnt, write, rvalid, alarm_valid, run_clk, unused_ok;
  logic [22:0] addr;
  logic [31:0] wdata, rdata, unused_rdata;
  logic [47:0] alarm_cycle;
  assign unused_ok = ^unused_rdata;

  sim_gate u_gate (
      .*,
      .gated(run_clk)
  );

  // The memory grants when it is asked and `allow` says so.
  assign gnt = req && allow;
  always_ff @(posedge run_clk) rvalid <= gnt && !write && !rst;
  myri_sram_stub #(
      .SIZE_LOG2(13),
      .WIDTH(32)
  ) u_sram (
      .clk(run_clk),
      .a_valid(gnt),
      .a_write(write),
      .a_addr(addr),
      .a_wdata(wdata),
      .a_be(4'hF),
      .a_rdata(rdata),
      .b_valid(1'b0),
      .b_write(1'b0),
      .b_addr(23'd0),
      .b_wdata(32'd0),
      .b_be(4'd0),
      .b_rdata(unused_rdata)
  );

  myri_word_dma u_dma (
      .*,
      .clk(run_clk),
      .sram_req(req),
      .sram_gnt(gnt),
      .sram_write(write),
      .sram_addr(addr),
      .sram_wdata(wdata),
      .sram_rvalid(rvalid),
      .sram_rdata(rdata),
      .rd_data({rd_done, rd_error, rd_beat})
  );
endmodule
