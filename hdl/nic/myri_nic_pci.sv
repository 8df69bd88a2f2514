// PCI side of the card: target, master, configuration space and the crossings to the NIC clock.
//
// Every access of the host to the 16 MB region becomes one beat of the PIO stream (myri_pio does it,
// in order); read answers come back. Commands of the host DMA engine go to the bus master; a write's
// data follow in their own crossing; read beats and the end of each command come back in one stream
// {done, error, beat}. The interrupt level crosses as messages. The configuration space's latency
// timer counts when it is not 0, else cfg_pci_latency_timer.
// Timing: each crossing costs its latency (cfg_cdc_latency); the bus timing is that of
// myri_pci_target and myri_pci_master.
module myri_nic_pci
  import myri_pci_pkg::*;
#(
    parameter int FIFO_LOG2 = 4  // entries of a data crossing = 2**FIFO_LOG2
) (
    input logic pci_clk,  // PCI clock
    input logic pci_rst,  // synchronous reset
    input logic [47:0] pci_cycle,  // index of the coming edge
    input logic [PCI_IN_BITS-1:0] pci_in,  // resolved wires of the slot
    output logic [PCI_OUT_BITS-1:0] pci_out,  // drives and enables
    input logic [3:0] cfg_cdc_latency,  // of every crossing
    input logic [31:0] cfg_pci_base,  // BAR0 after reset
    input logic cfg_pci_enabled,  // memory and master enable after reset
    input logic cfg_pci_m66,  // card can run at 66 MHz
    input logic cfg_pci_wide,  // 64-bit transfers
    input logic [1:0] cfg_pci_devsel,  // target: DEVSEL# speed
    input logic [3:0] cfg_pci_write_initial,  // target: wait states of the first write data phase
    input logic [3:0] cfg_pci_read_initial,  // target: least ones of the first read data phase
    input logic [2:0] cfg_pci_subsequent,  // target: of later data phases
    input logic [3:0] cfg_pci_read_wait,  // target: clocks TRDY# is held before a retry
    input logic [2:0] cfg_pci_stall_limit,  // target: clocks a phase waits before STOP#
    input logic [7:0] cfg_pci_max_phases,  // target: data phases before a disconnect; 0 = no limit
    input logic [15:0] cfg_pci_discard,  // target: age at which a delayed read gives way
    input logic [7:0] cfg_pci_latency_timer,  // master: latency timer; 0 = unlimited
    input logic [15:0] cfg_pci_max_burst,  // master: bytes of a transaction; 0 = unlimited
    input logic [7:0] cfg_pci_start_delay,  // master: clocks before asking for the bus
    input logic [2:0] cfg_pci_irdy_wait,  // master: clocks IRDY# may wait
    input logic [6:0] cfg_pci_line_bytes,  // master: cache line
    output logic pci_busy,  // PCI clock: another edge is needed
    input logic clk,  // NIC clock
    input logic rst,  // synchronous reset
    output logic pio_valid,  // PIO stream: {read, addr[23:3], be, data}
    input logic pio_ready,  // taken
    output logic [93:0] pio_data,  // the beat
    input logic rsp_valid,  // read answer
    output logic rsp_ready,  // taken
    input logic [63:0] rsp_data,  // lanes
    input logic cmd_valid,  // DMA command: {write, address, bytes}
    output logic cmd_ready,  // taken
    input logic [48:0] cmd_data,  // the command
    input logic wr_valid,  // DMA write beat
    output logic wr_ready,  // taken
    input logic [63:0] wr_data,  // lanes
    output logic rd_valid,  // DMA read beat, or end of a command
    input logic rd_ready,  // taken
    output logic [65:0] rd_data,  // {done, error, lanes}
    input logic intr_line,  // level of the interrupt request
    output logic busy  // NIC clock: another edge is needed
);
  logic [PCI_OUT_BITS-1:0] target_out;
  logic [PCI_OUT_BITS-1:0] master_out;
  logic tw_valid, tr_valid, p_ready, td_valid, tw_ready, tr_ready;
  logic [31:0] tw_addr, tr_addr;
  logic [63:0] tw_data, td_data;
  logic [7:0] tw_be;
  logic cs_write, mem_enable, master_enable;
  logic [5:0] cs_reg, bar_size_log2;
  logic [31:0] cs_wdata, cs_rdata, bar_base;
  logic [3:0] cs_be;
  logic [7:0] latency_timer;
  logic inta;
  logic tr_first, ev_first, ev_last, ev_write, ev_retry, ev_disconnect;
  logic [7:0] tr_bytes, interrupt_line;
  logic target_busy, master_busy, config_busy;
  logic [2:0] near_busy;  // PCI side of each crossing
  logic [3:0] far_busy;  // NIC side

  assign pci_busy = target_busy || master_busy || config_busy || near_busy != 3'd0;
  logic unused_ok;  // reports of the target that nobody here needs
  assign unused_ok = ^{tr_first, tr_bytes, ev_first, ev_last, ev_write, ev_retry, ev_disconnect, interrupt_line,
      tw_addr[31:24], tw_addr[2:0], tr_addr[31:24], tr_addr[2:0]};

  assign busy = far_busy != 4'd0;

  // Target and configuration space.
  myri_pci_target u_target (
      .clk(pci_clk),
      .rst(pci_rst),
      .cycle(pci_cycle),
      .pci_in(pci_in),
      .pci_out(target_out),
      .bar_base(bar_base),
      .bar_size_log2(bar_size_log2),
      .mem_enable(mem_enable),
      .cfg_wide(cfg_pci_wide),
      .cfg_devsel(cfg_pci_devsel),
      .cfg_write_initial(cfg_pci_write_initial),
      .cfg_read_initial(cfg_pci_read_initial),
      .cfg_subsequent(cfg_pci_subsequent),
      .cfg_read_wait(cfg_pci_read_wait),
      .cfg_stall_limit(cfg_pci_stall_limit),
      .cfg_max_phases(cfg_pci_max_phases),
      .cfg_discard(cfg_pci_discard),
      .cfg_target_abort(1'b0),
      .tw_valid(tw_valid),
      .tw_ready(tw_ready),
      .tw_addr(tw_addr),
      .tw_data(tw_data),
      .tw_be(tw_be),
      .tr_valid(tr_valid),
      .tr_ready(tr_ready),
      .tr_addr(tr_addr),
      .tr_bytes(tr_bytes),
      .tr_first(tr_first),
      .td_valid(td_valid),
      .td_data(td_data),
      .cs_write(cs_write),
      .cs_reg(cs_reg),
      .cs_wdata(cs_wdata),
      .cs_be(cs_be),
      .cs_rdata(cs_rdata),
      .ev_first(ev_first),
      .ev_last(ev_last),
      .ev_write(ev_write),
      .ev_retry(ev_retry),
      .ev_disconnect(ev_disconnect),
      .busy(target_busy)
  );

  myri_pci_config u_config (
      .clk(pci_clk),
      .rst(pci_rst),
      .cfg_base(cfg_pci_base),
      .cfg_enabled(cfg_pci_enabled),
      .cs_write(cs_write),
      .cs_reg(cs_reg),
      .cs_wdata(cs_wdata),
      .cs_be(cs_be),
      .cs_rdata(cs_rdata),
      .bar_base(bar_base),
      .bar_size_log2(bar_size_log2),
      .mem_enable(mem_enable),
      .master_enable(master_enable),
      .latency_timer(latency_timer),
      .interrupt_line(interrupt_line),
      .busy(config_busy)
  );

  // Posted writes go before reads: a read sees them.
  assign tw_ready = p_ready;
  assign tr_ready = p_ready && !tw_valid;

  myri_cdc_fifo #(
      .WIDTH(94),
      .DEPTH_LOG2(FIFO_LOG2)
  ) u_pio (
      .cfg_latency(cfg_cdc_latency),
      .w_clk(pci_clk),
      .w_rst(pci_rst),
      .w_valid(tw_valid || tr_valid),
      .w_ready(p_ready),
      .w_data({
        !tw_valid, tw_valid ? tw_addr[23:3] : tr_addr[23:3], tw_valid ? tw_be : 8'd0, tw_data
      }),
      .w_busy(near_busy[0]),
      .r_clk(clk),
      .r_rst(rst),
      .r_valid(pio_valid),
      .r_ready(pio_ready),
      .r_data(pio_data),
      .r_busy(far_busy[0])
  );

  myri_cdc_fifo #(
      .WIDTH(64),
      .DEPTH_LOG2(FIFO_LOG2)
  ) u_response (
      .cfg_latency(cfg_cdc_latency),
      .w_clk(clk),
      .w_rst(rst),
      .w_valid(rsp_valid),
      .w_ready(rsp_ready),
      .w_data(rsp_data),
      .w_busy(far_busy[1]),
      .r_clk(pci_clk),
      .r_rst(pci_rst),
      .r_valid(td_valid),
      .r_ready(1'b1),
      .r_data(td_data),
      .r_busy(near_busy[1])
  );

  // Master.
  myri_nic_master #(
      .FIFO_LOG2(FIFO_LOG2)
  ) u_master (
      .pci_clk(pci_clk),
      .pci_rst(pci_rst),
      .pci_in(pci_in),
      .pci_out(master_out),
      .enable(master_enable),
      .cfg_cdc_latency(cfg_cdc_latency),
      .cfg_wide(cfg_pci_wide),
      .cfg_latency_timer((latency_timer != 8'd0) ? latency_timer : cfg_pci_latency_timer),
      .cfg_max_burst(cfg_pci_max_burst),
      .cfg_start_delay(cfg_pci_start_delay),
      .cfg_irdy_wait(cfg_pci_irdy_wait),
      .cfg_line_bytes(cfg_pci_line_bytes),
      .pci_busy(master_busy),
      .clk(clk),
      .rst(rst),
      .cmd_valid(cmd_valid),
      .cmd_ready(cmd_ready),
      .cmd_data(cmd_data),
      .wr_valid(wr_valid),
      .wr_ready(wr_ready),
      .wr_data(wr_data),
      .rd_valid(rd_valid),
      .rd_ready(rd_ready),
      .rd_data(rd_data),
      .busy(far_busy[2])
  );

  myri_level_cross u_interrupt (
      .cfg_latency(cfg_cdc_latency),
      .w_clk(clk),
      .w_rst(rst),
      .w_level(intr_line),
      .w_busy(far_busy[3]),
      .r_clk(pci_clk),
      .r_rst(pci_rst),
      .r_level(inta),
      .r_busy(near_busy[2])
  );

  myri_pci_merge u_merge (
      .a_out(target_out),
      .b_out(master_out),
      .inta(inta),
      .m66(cfg_pci_m66),
      .pci_out(pci_out)
  );
endmodule
