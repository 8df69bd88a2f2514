// North bridge of one host: CPU accesses to PCI (posted, combined, read), PCI masters to host memory, arbiter,
// interrupt.
//
// Agent 0 of its bus. Peer-to-peer traffic between cards does not involve the bridge, because the bus is shared.
// Timing: a store on an idle, parked bus is accepted at one edge, and FRAME# is low after the next. Without wait states
// its data move three edges later, so an uncached store stream costs 5 clocks per word with depth 1, and 4 clocks with
// depth 2 or more.
module myri_host_bridge
  import myri_pci_pkg::*;
  import myri_settings_pkg::*;
#(
    parameter int AGENTS  = 2,  // agents on the bus, this bridge included
    parameter int IN_LOG2 = 6   // largest inbound buffer = 2**this beats
) (
    input logic clk,  // PCI clock
    input logic [PCI_SIDES-1:0] pci_gated_clk,  // clocks of its sides, gated
    input logic rst,  // synchronous, active high
    input logic [47:0] cycle,  // index of the coming edge
    input pci_in_t pci_in,  // bus as resolved
    output pci_out_t pci_out,  // wires that the bridge drives
    input logic [AGENTS-1:0] req_n,  // requests of all agents
    output logic [AGENTS-1:0] gnt_n,  // grants to all agents
    input logic [AGENTS-1:0] inta_n,  // INTA# of all agents
    input host_bridge_settings_t cfg,  // configuration of the bridge
    input logic cpu_valid,  // CPU access
    output logic cpu_ready,  // accepted
    input logic cpu_write,  // 1 = store
    input logic [31:0] cpu_addr,  // 8-byte aligned
    input logic [63:0] cpu_data,  // store data in lanes
    input logic [7:0] cpu_be,  // bytes, side by side
    input logic cpu_wc,  // write-combining memory
    input logic cpu_fence,  // wait until combined stores are posted
    input logic cpu_config,  // configuration cycle (type 0, address as on AD)
    output logic cpu_rvalid,  // read data, strobe
    output logic [63:0] cpu_rdata,  // byte lanes
    output logic mem_valid,  // host memory access
    output logic mem_write,  // 1 = write
    output logic [31:0] mem_addr,  // 8-byte aligned
    output logic [63:0] mem_wdata,  // byte lanes
    output logic [7:0] mem_be,  // bytes written
    input logic [63:0] mem_rdata,  // valid one clock after a read
    output logic intr,  // level: INTA# of any agent (combinational)
    output logic idle_out,  // every store of the CPU has finished on the bus
    output logic idle_in,  // every DMA write is in memory
    output host_bridge_trace_t trace,  // events of this clock
    output logic [PCI_SIDES-1:0] pci_gated_needed,  // clock enables of these clocks
    output logic busy  // 1 = needs clock edges
);
  logic arbiter_busy;
  logic cpu_needed, master_needed, target_needed, inbound_needed;
  assign pci_gated_needed[SIDE_TARGET] = target_needed | inbound_needed;
  assign pci_gated_needed[SIDE_MASTER] = cpu_needed | master_needed;
  assign busy = arbiter_busy | cpu_valid | pci_gated_needed != '0;
  assign intr = inta_n != '1;

  // ---- trace ----
  logic done;  // a CPU transaction has finished
  pci_master_trace_t master_trace;
  pci_target_trace_t target_trace;
  assign trace.pio_start = master_trace.start;
  assign trace.pio_done = done;
  assign {trace.dma_first, trace.dma_last, trace.dma_write, trace.retry, trace.disconnect} = target_trace;

  myri_pci_arbiter #(
      .AGENTS(AGENTS)
  ) u_arbiter (
      .clk,
      .rst,
      .req_n,
      .gnt_n,
      .frame_n(pci_in.wires.frame_n),
      .irdy_n(pci_in.wires.irdy_n),
      .busy(arbiter_busy)
  );

  // ---- fraction of CPU transactions that start one clock later ----
  logic [4:0] share_q, share_d;
  logic extra;
  pci_master_settings_t down;  // of its two sides
  pci_target_settings_t up;
  assign down.latency_timer = cfg.latency_timer;
  assign down.max_burst = 16'd0;
  assign down.start_delay = cfg.start_delay + {7'd0, extra};
  assign down.irdy_wait = 3'd6;
  assign down.line_bytes = 7'd32;
  assign up.devsel = cfg.up_devsel;
  assign up.write_initial = cfg.up_write_initial;
  assign up.read_initial = cfg.up_read_initial;
  assign up.subsequent = cfg.up_subsequent;
  assign up.read_wait = cfg.up_read_wait;
  assign up.stall_limit = cfg.up_stall_limit;
  assign up.max_phases = cfg.up_max_phases;
  assign up.discard = 16'd32768;
  assign share_d = share_q + {1'b0, cfg.extra_num};
  assign extra = cfg.extra_num != 4'd0 & (share_d >= {1'b0, cfg.extra_den});
  always_ff @(posedge pci_gated_clk[SIDE_MASTER]) begin
    if (rst) share_q <= '0;
    else if (done) share_q <= extra ? share_d - {1'b0, cfg.extra_den} : share_d;
  end

  // ---- downstream: CPU to PCI ----
  pci_transfer_t mc;
  logic mc_valid, mc_ready, mc_config, mw_valid, mw_ready, mr_valid, mr_ready;


  logic [63:0] mw_data, mr_data;
  pci_out_t master_out, target_out;

  myri_host_cpu u_cpu (
      .rst,
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
      .mc,
      .mc_config,
      .mw_valid,
      .mw_ready,
      .mw_data,
      .mr_valid,
      .mr_ready,
      .mr_data,
      .clk(pci_gated_clk[SIDE_MASTER]),
      .cfg_post_depth(cfg.post_depth),
      .cfg_wc_bytes(cfg.wc_bytes),
      .cfg_read_return(cfg.read_return),
      .m_done(done),
      .accepted(trace.pio_accept),
      .idle(idle_out),
      .needed(cpu_needed)
  );
  myri_pci_master u_master (
      .rst,
      .pci_in,
      .mc_valid,
      .mc_ready,
      .mc,
      .mc_config,
      .mw_valid,
      .mw_ready,
      .mw_data,
      .mr_valid,
      .mr_ready,
      .mr_data,
      .clk(pci_gated_clk[SIDE_MASTER]),
      .pci_out(master_out),
      .cfg(down),
      .cfg_wide(cfg.wide),
      .m_done(done),
      .m_error(trace.pio_error),
      .trace(master_trace),
      .needed(master_needed),
      .busy()
  );

  // ---- upstream: PCI to host memory ----
  pci_write_t tw;
  pci_read_t  tread;
  logic tw_valid, tw_ready, tread_valid, tread_ready, td_valid;

  logic [63:0] td_data;

  logic cs_write;
  logic [5:0] cs_reg;
  logic [31:0] cs_wdata;
  logic [3:0] cs_be;

  myri_pci_target u_target (
      .rst,
      .cycle,
      .pci_in,
      .tw_valid,
      .tw_ready,
      .tw,
      .tread_valid,
      .tread_ready,
      .tread,
      .td_valid,
      .td_data,
      .cs_write,
      .cs_reg,
      .cs_wdata,
      .cs_be,
      .clk(pci_gated_clk[SIDE_TARGET]),
      .pci_out(target_out),
      .bar_base(32'd0),
      .bar_size_log2(cfg.mem_log2),
      .mem_enable(1'b1),
      .cfg(up),
      .cfg_wide(cfg.wide),
      .cfg_target_abort(1'b0),
      .cs_rdata(32'd0),
      .trace(target_trace),
      .needed(target_needed),
      .busy()
  );
  myri_host_inbound #(
      .DEPTH_LOG2(IN_LOG2)
  ) u_inbound (
      .rst,
      .tw_valid,
      .tw_ready,
      .tw,
      .tread_valid,
      .tread_ready,
      .tread,
      .td_valid,
      .td_data,
      .mem_valid,
      .mem_write,
      .mem_addr,
      .mem_wdata,
      .mem_be,
      .mem_rdata,
      .clk(pci_gated_clk[SIDE_TARGET]),
      .cfg_in_buffer(cfg.in_buffer),
      .cfg_drain_num(cfg.drain_num),
      .cfg_drain_den(cfg.drain_den),
      .cfg_read_latency(cfg.read_latency),
      .idle(idle_in),
      .needed(inbound_needed)
  );

  myri_pci_merge u_merge (
      .a_out(target_out),
      .b_out(master_out),
      .inta (1'b0),
      .m66  (cfg.m66),
      .pci_out
  );

  logic unused;
  assign unused = &{1'b0, tread.bytes, cs_write, cs_reg, cs_wdata, cs_be, master_trace};
endmodule
