// FPGA card of the RC1000 kind: PCI target and master, four SRAM banks, mailboxes, and an FPGA whose message shell
// passes messages to user circuits. The SRAM is external (ports mem_* of the bus side, head_*, result_*, bank_* of the
// FPGA); the bus side and the FPGA never access one bank at the same time.
//
// Window of 16 MB: the banks at 0, the registers (CardReg) at 8 MB, the configuration port at 12 MB. The two clocks meet only in crossings, and each is
// gated separately.
module myri_fpga_card
  import myri_card_pkg::*;
  import myri_pci_pkg::*;
  import myri_settings_pkg::*;
#(
    parameter int FIFO_LOG2 = 4,  // entries of the crossings = 2**FIFO_LOG2
    parameter int UNIT = 0  // number of the card in a simulation, for circuits in Python
) (
    input logic clk,  // PCI clock
    input logic rst,  // synchronous reset
    input logic [47:0] cycle,  // index of the coming edge
    output logic busy,  // 1 = a further clock edge is needed
    input logic f_clk,  // fabric clock
    input logic f_rst,  // synchronous reset
    output logic f_busy,  // fabric clock: 1 = a further edge is needed
    input pci_in_t pci_in,  // resolved wires of the slot
    output pci_out_t pci_out,  // drives and enables
    input pci_card_settings_t cfg_pci,  // PCI configuration of the card
    input fpga_settings_t cfg,  // configuration of the card itself
    output logic mem_valid,  // bus side: access of a bank
    output logic mem_write,  // 1 = write
    output logic [22:0] mem_addr,  // byte offset in the banks, multiple of 4
    output logic [31:0] mem_wdata,  // write data
    output logic [3:0] mem_be,  // bytes written
    input logic [31:0] mem_rdata,  // read data, one clock later
    output logic head_valid,  // FPGA: read of bank 0 or 1
    output logic head_bank,  // which
    output logic [18:0] head_addr,  // word
    input logic [31:0] head_rdata,  // read data, one clock later
    output logic result_valid,  // FPGA: write of bank 2
    output logic [18:0] result_addr,  // word
    output logic [31:0] result_wdata,  // write data
    output logic bank_valid,  // FPGA: access of bank 3
    output logic bank_write,  // 1 = write
    output logic [18:0] bank_addr,  // word
    output logic [31:0] bank_wdata,  // write data
    input logic [31:0] bank_rdata,  // read data, one clock later
    output card_trace_t trace  // events of both clocks
);
  logic device_busy, bus_busy, cross_busy, cross_f_busy, fabric_busy, master_enable, m_error;

  logic
      tw_valid,
      tw_ready,
      tread_valid,
      tread_ready,
      td_valid,
      mc_valid,
      mc_ready,
      mw_valid,
      mw_ready;
  logic
      mr_valid,
      mr_ready,
      m_done,
      write_valid,
      write_ready,
      s_valid,
      s_ready,
      job_valid,
      job_ready,
      sent;
  logic f_valid, f_ready, fs_valid, fs_ready, fj_valid, fj_ready, f_sent;

  pci_device_trace_t device_trace;
  assign {trace.first, trace.last} = {device_trace.target.first, device_trace.target.last};
  pci_write_t tw;
  pci_read_t tread;
  pci_transfer_t mc;
  logic [31:0] identity;
  logic [7:0] files;
  card_write_t write_word, f_word;
  card_report_t s_word, fs_word;
  card_job_t job, fj_job;
  logic [63:0] td_data, mw_data, mr_data;


  logic [3:0] access, hold, host_owns, want, granted;
  myri_pci_device #(
      .VENDOR(32'h4357),
      .DEVICE(32'h1000),
      .CLASS_REV(32'h1180_0000)
  ) u_device (
      .cfg(cfg_pci),
      .inta(1'b0),
      .pci_gated_clk({PCI_SIDES{clk}}),
      .pci_gated_needed(),
      .busy(device_busy),
      .rst,
      .cycle,
      .pci_in,
      .pci_out,
      .master_enable,
      .tw_valid,
      .tw_ready,
      .tw,
      .tread_valid,
      .tread_ready,
      .tread,
      .td_valid,
      .td_data,
      .trace(device_trace),
      .mc_valid,
      .mc_ready,
      .mc,
      .mw_valid,
      .mw_ready,
      .mw_data,
      .mr_valid,
      .mr_ready,
      .mr_data,
      .m_done,
      .m_error
  );
  myri_card_bus u_bus (
      .cfg_patience(cfg.patience),
      .cfg_pause(cfg.pause),
      .cfg_config_wait(cfg.config_wait),
      .identity,
      .files,
      .in_flight(trace.in_flight),
      .busy(bus_busy),
      .clk,
      .rst,
      .tw_valid,
      .tw_ready,
      .tw,
      .tread_valid,
      .tread_ready,
      .tread,
      .td_valid,
      .td_data,
      .mc_valid,
      .mc_ready,
      .mc,
      .mw_valid,
      .mw_ready,
      .mw_data,
      .mr_valid,
      .mr_ready,
      .mr_data,
      .m_done,
      .mem_valid,
      .mem_write,
      .mem_addr,
      .mem_wdata,
      .mem_be,
      .mem_rdata,
      .access,
      .hold,
      .host_owns,
      .write_valid,
      .write_ready,
      .write_word,
      .s_valid,
      .s_ready,
      .s_word,
      .job_valid,
      .job_ready,
      .job,
      .sent,
      .ev_mailbox(trace.mailbox)
  );
  myri_card_crossings #(
      .FIFO_LOG2(FIFO_LOG2)
  ) u_crossings (
      .cfg_cdc_latency(cfg.cdc_latency),
      .cfg_linger(cfg.linger),
      .cfg_patience(cfg.patience),
      .busy(cross_busy),
      .f_busy(cross_f_busy),
      .clk,
      .rst,
      .f_clk,
      .f_rst,
      .access,
      .hold,
      .host_owns,
      .write_valid,
      .write_ready,
      .write_word,
      .s_valid,
      .s_ready,
      .s_word,
      .job_valid,
      .job_ready,
      .job,
      .sent,
      .f_valid,
      .f_ready,
      .f_word,
      .fs_valid,
      .fs_ready,
      .fs_word,
      .fj_valid,
      .fj_ready,
      .fj_job,
      .f_sent,
      .want,
      .granted,
      .ev_patience(trace.patience)
  );
  myri_card_fabric #(
      .UNIT(UNIT)
  ) u_fabric (
      .clk(f_clk),
      .rst(f_rst),
      .busy(fabric_busy),
      .identity,
      .files,
      .f_valid,
      .f_ready,
      .f_word,
      .fs_valid,
      .fs_ready,
      .fs_word,
      .fj_valid,
      .fj_ready,
      .fj_job,
      .f_sent,
      .want,
      .granted,
      .head_valid,
      .head_bank,
      .head_addr,
      .head_rdata,
      .result_valid,
      .result_addr,
      .result_wdata,
      .bank_valid,
      .bank_write,
      .bank_addr,
      .bank_wdata,
      .bank_rdata,
      .ev_trespass(trace.trespass),
      .trace(trace.shell)
  );
  assign busy   = device_busy || bus_busy || cross_busy;
  assign f_busy = fabric_busy || cross_f_busy;

  logic unused;
  assign unused = &{1'b0, device_trace, master_enable, m_error, tread.first, tread.bytes};
endmodule
