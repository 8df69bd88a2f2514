// Bus master of the card with its crossings: commands and beats of the host DMA engine to the PCI bus.
//
// A command {write, address, bytes} starts when the one before it is over; write beats follow in their
// own crossing; read beats and the end of each command come back in one stream {done, error, beat}.
// The end of a read may stand before its last beats. Beats are exact, on an error too.
// Timing: each crossing costs its latency; the bus timing is that of myri_pci_master.
module myri_nic_master
  import myri_pci_pkg::*;
#(
    parameter int FIFO_LOG2 = 4  // entries of a data crossing = 2**FIFO_LOG2
) (
    input  logic                    pci_clk,            // PCI clock
    input  logic                    pci_rst,            // synchronous reset
    input  logic [ PCI_IN_BITS-1:0] pci_in,             // resolved wires of the slot
    output logic [PCI_OUT_BITS-1:0] pci_out,            // drives and enables
    input  logic                    enable,             // master enable of the command register
    input  logic [             3:0] cfg_cdc_latency,    // of every crossing
    input  logic                    cfg_wide,           // 64-bit transfers
    input  logic [             7:0] cfg_latency_timer,  // latency timer; 0 = unlimited
    input  logic [            15:0] cfg_max_burst,      // bytes of a transaction; 0 = unlimited
    input  logic [             7:0] cfg_start_delay,    // clocks before asking for the bus
    input  logic [             2:0] cfg_irdy_wait,      // clocks IRDY# may wait
    input  logic [             6:0] cfg_line_bytes,     // cache line
    output logic                    pci_busy,           // PCI clock: another edge is needed
    input  logic                    clk,                // NIC clock
    input  logic                    rst,                // synchronous reset
    input  logic                    cmd_valid,          // command: {write, address, bytes}
    output logic                    cmd_ready,          // taken
    input  logic [            48:0] cmd_data,           // the command
    input  logic                    wr_valid,           // write beat
    output logic                    wr_ready,           // taken
    input  logic [            63:0] wr_data,            // lanes
    output logic                    rd_valid,           // read beat, or end of a command
    input  logic                    rd_ready,           // taken
    output logic [            65:0] rd_data,            // {done, error, lanes}
    output logic                    busy                // NIC clock: another edge is needed
);
  logic mc_valid, mc_take, mc_ready, mw_valid, mw_ready, mr_valid, m_done, m_error, r_ready;
  logic [48:0] mc_data;
  logic [63:0] mw_data, mr_data;
  logic done_due, done_error, master_busy;
  logic ev_start, ev_retry, ev_disconnect;
  logic [2:0] near_busy;  // PCI side of each crossing
  logic [2:0] far_busy;  // NIC side
  logic unused_ok;  // reports of the master that nobody here needs

  assign unused_ok = ^{ev_start, ev_retry, ev_disconnect};
  assign pci_busy = master_busy || near_busy != 3'd0 || done_due || mc_take;
  assign busy = far_busy != 3'd0;
  assign mc_take = mc_valid && mc_ready && enable && !done_due;

  myri_pci_master u_master (
      .clk(pci_clk),
      .rst(pci_rst),
      .pci_in(pci_in),
      .pci_out(pci_out),
      .cfg_wide(cfg_wide),
      .cfg_latency_timer(cfg_latency_timer),
      .cfg_max_burst(cfg_max_burst),
      .cfg_start_delay(cfg_start_delay),
      .cfg_irdy_wait(cfg_irdy_wait),
      .cfg_line_bytes(cfg_line_bytes),
      .mc_valid(mc_valid && enable && !done_due),
      .mc_ready(mc_ready),
      .mc_write(mc_data[48]),
      .mc_config(1'b0),
      .mc_addr(mc_data[47:16]),
      .mc_bytes(mc_data[15:0]),
      .mw_valid(mw_valid),
      .mw_ready(mw_ready),
      .mw_data(mw_data),
      .mr_valid(mr_valid),
      .mr_ready(r_ready),
      .mr_data(mr_data),
      .m_done(m_done),
      .m_error(m_error),
      .ev_start(ev_start),
      .ev_retry(ev_retry),
      .ev_disconnect(ev_disconnect),
      .busy(master_busy)
  );

  // The end of a command waits for its place behind the read beats.
  always_ff @(posedge pci_clk) begin
    if (pci_rst) begin
      done_due   <= 1'b0;
      done_error <= 1'b0;
    end else if (m_done) begin
      done_due   <= 1'b1;
      done_error <= m_error;
    end else if (!mr_valid && r_ready) begin
      done_due <= 1'b0;
    end
  end

  myri_cdc_fifo #(
      .WIDTH(49),
      .DEPTH_LOG2(2)
  ) u_command (
      .cfg_latency(cfg_cdc_latency),
      .w_clk(clk),
      .w_rst(rst),
      .w_valid(cmd_valid),
      .w_ready(cmd_ready),
      .w_data(cmd_data),
      .w_busy(far_busy[0]),
      .r_clk(pci_clk),
      .r_rst(pci_rst),
      .r_valid(mc_valid),
      .r_ready(mc_ready && enable && !done_due),
      .r_data(mc_data),
      .r_busy(near_busy[0])
  );

  myri_cdc_fifo #(
      .WIDTH(64),
      .DEPTH_LOG2(FIFO_LOG2)
  ) u_write (
      .cfg_latency(cfg_cdc_latency),
      .w_clk(clk),
      .w_rst(rst),
      .w_valid(wr_valid),
      .w_ready(wr_ready),
      .w_data(wr_data),
      .w_busy(far_busy[1]),
      .r_clk(pci_clk),
      .r_rst(pci_rst),
      .r_valid(mw_valid),
      .r_ready(mw_ready),
      .r_data(mw_data),
      .r_busy(near_busy[1])
  );

  myri_cdc_fifo #(
      .WIDTH(66),
      .DEPTH_LOG2(FIFO_LOG2)
  ) u_read (
      .cfg_latency(cfg_cdc_latency),
      .w_clk(pci_clk),
      .w_rst(pci_rst),
      .w_valid(mr_valid || done_due),
      .w_ready(r_ready),
      .w_data({!mr_valid, done_error, mr_data}),
      .w_busy(near_busy[2]),
      .r_clk(clk),
      .r_rst(rst),
      .r_valid(rd_valid),
      .r_ready(rd_ready),
      .r_data(rd_data),
      .r_busy(far_busy[2])
  );
endmodule
