// North bridge of one host: CPU accesses to PCI (posted, combined, read), PCI masters to host memory, arbiter,
// interrupt.
// Agent 0 of its bus. Peer-to-peer traffic between cards needs nothing from it: the bus is shared.
// Timing: a store on an idle, parked bus is taken at one edge and has FRAME# low after the next; with no wait states
// its data moves three edges later, so an uncached store stream of depth 1 costs 5 clocks a word and of depth 2 or
// more 4 clocks.
module myri_host_bridge
  import myri_pci_pkg::*;
#(
    parameter int AGENTS  = 2,  // agents on the bus, this bridge included
    parameter int IN_LOG2 = 6   // largest inbound buffer = 2**this beats
) (
    input logic clk,  // PCI clock
    input logic [PCI_SIDES-1:0] side_clk,  // that of its sides; edges with side_needed = 0 may be left out
    input logic rst,  // synchronous, active high
    input logic [47:0] cycle,  // index of the coming edge
    input logic [PCI_IN_BITS-1:0] pci_in,  // bus as resolved
    output logic [PCI_OUT_BITS-1:0] pci_out,  // what the bridge drives
    input logic [AGENTS-1:0] req_n,  // requests of all agents
    output logic [AGENTS-1:0] gnt_n,  // grants to all agents
    input logic [AGENTS-1:0] inta_n,  // INTA# of all agents
    input logic cfg_wide,  // 64-bit bus
    input logic cfg_m66,  // bus runs at 66 MHz
    input logic [7:0] cfg_latency_timer,  // bridge as master; 0 = unlimited
    input logic [7:0] cfg_start_delay,  // clocks before the bridge asks for the bus
    input logic [3:0] cfg_extra_num,  // CPU transactions that wait one clock more: so many ...
    input logic [3:0] cfg_extra_den,  // ... of these (host and PCI clock out of step); 0 = none
    input logic [4:0] cfg_post_depth,  // CPU transactions posted and unfinished, 1..16
    input logic [6:0] cfg_wc_bytes,  // write-combining line: 8, 16, 32, 64
    input logic [7:0] cfg_read_return,  // clocks from bus data to CPU
    input logic [5:0] cfg_mem_log2,  // host memory window at 0, bytes = 2**this (12..31)
    input logic [1:0] cfg_devsel,  // DEVSEL# speed towards memory: 1 medium, 2 slow
    input  logic [             3:0] cfg_up_write_initial,  // wait states of the first data phase, writes to memory
    input logic [3:0] cfg_up_read_initial,  // ... reads from memory (least)
    input logic [2:0] cfg_up_subsequent,  // ... of later data phases
    input logic [3:0] cfg_up_read_wait,  // clocks TRDY# is held for memory before a retry
    input logic [2:0] cfg_up_stall_limit,  // clocks a phase waits for the buffer before STOP#
    input logic [7:0] cfg_up_max_phases,  // data phases before a disconnect; 0 = no limit
    input logic [7:0] cfg_in_buffer,  // inbound write buffer, beats (0 = all)
    input logic [7:0] cfg_drain_num,  // its drain rate, beats ...
    input logic [7:0] cfg_drain_den,  // ... per clocks
    input logic [7:0] cfg_read_latency,  // clocks from a memory read request to its first data
    input logic cpu_valid,  // CPU access
    output logic cpu_ready,  // taken
    input logic cpu_write,  // 1 = store
    input logic [31:0] cpu_addr,  // 8-byte aligned
    input logic [63:0] cpu_data,  // store data in lanes
    input logic [7:0] cpu_be,  // bytes, side by side
    input logic cpu_wc,  // write-combining memory
    input logic cpu_fence,  // wait until combined stores are posted
    input logic cpu_config,  // configuration cycle (type 0, address as on AD)
    output logic cpu_rvalid,  // read data, strobe
    output logic [63:0] cpu_rdata,  // lanes
    output logic mem_valid,  // host memory access
    output logic mem_write,  // 1 = write
    output logic [31:0] mem_addr,  // 8-byte aligned
    output logic [63:0] mem_wdata,  // lanes
    output logic [7:0] mem_be,  // bytes written
    input logic [63:0] mem_rdata,  // valid in the clock after a read
    output logic intr,  // INTA# of any agent, level (combinational)
    output logic idle_out,  // every store of the CPU is done on the bus
    output logic idle_in,  // every DMA write is in memory
    output logic tr_pio_accept,  // CPU access taken at this edge
    output logic tr_pio_start,  // strobe: FRAME# of the bridge fell
    output logic tr_pio_done,  // strobe: CPU transaction finished
    output logic tr_pio_error,  // with tr_pio_done: master or target abort
    output logic tr_dma_first,  // strobe: first data of a transaction to memory
    output logic tr_dma_last,  // strobe: its end
    output logic tr_dma_write,  // with both: it writes memory
    output logic ev_retry,  // strobe: the bridge refused a transaction
    output logic ev_disconnect,  // strobe: the bridge stopped a burst
    output logic [PCI_SIDES-1:0] side_needed,  // the coming edge of side_clk is needed
    output logic busy  // 1 = needs clock edges
);
  logic arbiter_busy;
  logic cpu_needed, master_needed, target_needed, inbound_needed;
  assign side_needed[SIDE_TARGET] = target_needed | inbound_needed;
  assign side_needed[SIDE_MASTER] = cpu_needed | master_needed;
  assign busy = arbiter_busy | cpu_valid | side_needed != '0;
  assign intr = inta_n != '1;

  myri_pci_arbiter #(
      .AGENTS(AGENTS)
  ) u_arbiter (
      .clk,
      .rst,
      .frame_n(pci_in[PCI_FRAME_N]),
      .irdy_n(pci_in[PCI_IRDY_N]),
      .req_n,
      .gnt_n,
      .busy(arbiter_busy)
  );

  // ---- the share of CPU transactions that start a clock later ----
  logic [4:0] share, share_n;
  logic extra;
  assign share_n = share + {1'b0, cfg_extra_num};
  assign extra   = cfg_extra_num != 4'd0 & (share_n >= {1'b0, cfg_extra_den});
  always_ff @(posedge side_clk[SIDE_MASTER]) begin
    if (rst) share <= '0;
    else if (tr_pio_done) share <= extra ? share_n - {1'b0, cfg_extra_den} : share_n;
  end

  // ---- downstream: CPU to PCI ----
  logic mc_valid, mc_ready, mc_write, mc_config, mw_valid, mw_ready, mr_valid, mr_ready;
  logic [31:0] mc_addr;
  logic [15:0] mc_bytes;
  logic [63:0] mw_data, mr_data;
  logic [PCI_OUT_BITS-1:0] master_out, target_out;
  logic master_retry, master_disconnect;

  myri_host_cpu u_cpu (
      .clk(side_clk[SIDE_MASTER]),
      .rst,
      .cfg_post_depth,
      .cfg_wc_bytes,
      .cfg_read_return,
      .cpu_valid,
      .cpu_ready,
      .cpu_write,
      .cpu_addr,
      .cpu_data,
      .cpu_be,
      .cpu_wc,
      .cpu_fence,
      .cpu_config,
      .cpu_rvalid,
      .cpu_rdata,
      .mc_valid,
      .mc_ready,
      .mc_write,
      .mc_config,
      .mc_addr,
      .mc_bytes,
      .mw_valid,
      .mw_ready,
      .mw_data,
      .mr_valid,
      .mr_ready,
      .mr_data,
      .m_done(tr_pio_done),
      .tr_accept(tr_pio_accept),
      .idle(idle_out),
      .needed(cpu_needed)
  );
  myri_pci_master u_master (
      .clk(side_clk[SIDE_MASTER]),
      .rst,
      .pci_in,
      .pci_out(master_out),
      .cfg_wide,
      .cfg_latency_timer,
      .cfg_max_burst(16'd0),
      .cfg_start_delay(cfg_start_delay + {7'd0, extra}),
      .cfg_irdy_wait(3'd6),
      .cfg_line_bytes(7'd32),
      .mc_valid,
      .mc_ready,
      .mc_write,
      .mc_config,
      .mc_addr,
      .mc_bytes,
      .mw_valid,
      .mw_ready,
      .mw_data,
      .mr_valid,
      .mr_ready,
      .mr_data,
      .m_done(tr_pio_done),
      .m_error(tr_pio_error),
      .ev_start(tr_pio_start),
      .ev_retry(master_retry),
      .ev_disconnect(master_disconnect),
      .needed(master_needed),
      .busy()
  );

  // ---- upstream: PCI to host memory ----
  logic tw_valid, tw_ready, tr_valid, tr_ready, tr_first, td_valid;
  logic [31:0] tw_addr, tr_addr;
  logic [63:0] tw_data, td_data;
  logic [7:0] tw_be, tr_bytes;
  logic cs_write;
  logic [5:0] cs_reg;
  logic [31:0] cs_wdata;
  logic [3:0] cs_be;

  myri_pci_target u_target (
      .clk(side_clk[SIDE_TARGET]),
      .rst,
      .cycle,
      .pci_in,
      .pci_out(target_out),
      .bar_base(32'd0),
      .bar_size_log2(cfg_mem_log2),
      .mem_enable(1'b1),
      .cfg_wide,
      .cfg_devsel,
      .cfg_write_initial(cfg_up_write_initial),
      .cfg_read_initial(cfg_up_read_initial),
      .cfg_subsequent(cfg_up_subsequent),
      .cfg_read_wait(cfg_up_read_wait),
      .cfg_stall_limit(cfg_up_stall_limit),
      .cfg_max_phases(cfg_up_max_phases),
      .cfg_discard(16'd32768),
      .cfg_target_abort(1'b0),
      .tw_valid,
      .tw_ready,
      .tw_addr,
      .tw_data,
      .tw_be,
      .tr_valid,
      .tr_ready,
      .tr_addr,
      .tr_bytes,
      .tr_first,
      .td_valid,
      .td_data,
      .cs_write,
      .cs_reg,
      .cs_wdata,
      .cs_be,
      .cs_rdata(32'd0),
      .ev_first(tr_dma_first),
      .ev_last(tr_dma_last),
      .ev_write(tr_dma_write),
      .ev_retry,
      .ev_disconnect,
      .needed(target_needed),
      .busy()
  );
  myri_host_inbound #(
      .DEPTH_LOG2(IN_LOG2)
  ) u_inbound (
      .clk(side_clk[SIDE_TARGET]),
      .rst,
      .cfg_in_buffer,
      .cfg_drain_num,
      .cfg_drain_den,
      .cfg_read_latency,
      .tw_valid,
      .tw_ready,
      .tw_addr,
      .tw_data,
      .tw_be,
      .tr_valid,
      .tr_ready,
      .tr_addr,
      .tr_first,
      .td_valid,
      .td_data,
      .mem_valid,
      .mem_write,
      .mem_addr,
      .mem_wdata,
      .mem_be,
      .mem_rdata,
      .idle(idle_in),
      .needed(inbound_needed)
  );

  myri_pci_merge u_merge (
      .a_out(target_out),
      .b_out(master_out),
      .inta (1'b0),
      .m66  (cfg_m66),
      .pci_out
  );

  logic unused;
  assign unused = &{1'b0, tr_bytes, cs_write, cs_reg, cs_wdata, cs_be, master_retry, master_disconnect};
endmodule
