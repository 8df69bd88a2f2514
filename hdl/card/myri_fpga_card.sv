// An FPGA card of the RC1000 kind: PCI target and master, four banks of SRAM, mailboxes, and an FPGA whose message shell
// gives messages to user circuits. The SRAM is outside (ports mem_* of the bus side, head_*, result_*, bank_* of the
// FPGA); the bus side and the FPGA never access one bank at a time.
//
// Window of 16 MB: the banks at 0, the registers (CardReg) at 8 MB. Two clocks meet only in crossings; each sleeps alone.
module myri_fpga_card
  import myri_pci_pkg::*;
  import myri_card_pkg::*;
#(
    parameter int FIFO_LOG2 = 4  // entries of the crossings = 2**FIFO_LOG2
) (
    input logic clk,  // PCI clock
    input logic rst,  // synchronous reset
    input logic [47:0] cycle,  // index of the coming edge
    output logic busy,  // another edge is needed
    output logic alarm_valid,  // wants to be awake ...
    output logic [47:0] alarm_cycle,  // ... at this edge
    input logic f_clk,  // fabric clock
    input logic f_rst,  // synchronous reset
    output logic f_busy,  // fabric clock: another edge is needed
    input logic [PCI_IN_BITS-1:0] pci_in,  // resolved wires of the slot
    output logic [PCI_OUT_BITS-1:0] pci_out,  // drives and enables
    input logic [31:0] cfg_base,  // BAR0 after reset
    input logic [3:0] cfg_cdc_latency,  // of every crossing
    input logic cfg_wide,  // 64-bit card
    input logic cfg_m66,  // can run at 66 MHz
    input logic [7:0] cfg_latency_timer,  // as myri_pci_master
    input logic [15:0] cfg_max_burst,  // as myri_pci_master
    input logic [7:0] cfg_start_delay,  // as myri_pci_master
    input logic [2:0] cfg_irdy_wait,  // as myri_pci_master
    input logic [6:0] cfg_line_bytes,  // as myri_pci_master
    input logic [1:0] cfg_devsel,  // as myri_pci_target
    input logic [3:0] cfg_write_initial,  // as myri_pci_target
    input logic [3:0] cfg_read_initial,  // as myri_pci_target
    input logic [2:0] cfg_subsequent,  // as myri_pci_target
    input logic [3:0] cfg_read_wait,  // as myri_pci_target
    input logic [2:0] cfg_stall_limit,  // as myri_pci_target
    input logic [7:0] cfg_max_phases,  // as myri_pci_target
    input logic [15:0] cfg_discard,  // as myri_pci_target
    input logic [7:0] cfg_linger,  // as myri_card_bank
    input logic [15:0] cfg_patience,  // as myri_card_bank; also for the control mailbox
    input logic [7:0] cfg_pause,  // as myri_card_uplink
    output logic mem_valid,  // bus side: access of a bank
    output logic mem_write,  // 1 = write
    output logic [22:0] mem_addr,  // byte offset in the banks, multiple of 4
    output logic [31:0] mem_wdata,  // write data
    output logic [3:0] mem_be,  // bytes written
    input logic [31:0] mem_rdata,  // read data, the clock after
    output logic head_valid,  // FPGA: read of bank 0 or 1
    output logic head_bank,  // which
    output logic [18:0] head_addr,  // word
    input logic [31:0] head_rdata,  // read data, the clock after
    output logic result_valid,  // FPGA: write of bank 2
    output logic [18:0] result_addr,  // word
    output logic [31:0] result_wdata,  // write data
    output logic bank_valid,  // FPGA: access of bank 3
    output logic bank_write,  // 1 = write
    output logic [18:0] bank_addr,  // word
    output logic [31:0] bank_wdata,  // write data
    input logic [31:0] bank_rdata,  // read data, the clock after
    output logic [3:0] ev_patience,  // strobes: a bus access has waited too long for a bank
    output logic ev_mailbox,  // strobe: a write of the control mailbox has waited too long
    output logic ev_trespass,  // level, fabric clock: a circuit uses bank 3 without a grant
    output logic tr_take,  // strobe, fabric clock: a message is given to its circuit
    output logic tr_give,  // strobe, fabric clock: its result is written
    output logic [31:0] tr_key,  // first word of the message, with both
    output logic tr_first,  // strobe: first data of a transaction to this card
    output logic tr_last,  // strobe: its end
    output logic st_in_flight  // something is not finished: a job, a transfer
);
  // ---------------------------------------------------------------- PCI
  logic [PCI_OUT_BITS-1:0] target_out, master_out;
  logic cs_write, mem_enable, master_enable, master_busy, target_busy, config_busy;
  logic [5:0] cs_reg, bar_size_log2;
  logic [31:0] cs_wdata, cs_rdata, bar_base;
  logic [3:0] cs_be;
  logic [7:0] latency_timer, interrupt_line;
  logic tw_valid, tw_ready, tr_valid, tr_ready, tr_begin, td_valid;
  logic [31:0] tw_addr, tr_addr;
  logic [63:0] tw_data, td_data;
  logic [7:0] tw_be, tr_bytes;
  logic ev_write, t_retry, t_disconnect, ev_start, m_retry, m_disconnect;
  logic mc_valid, mc_ready, mc_write, mw_valid, mw_ready, mr_valid, mr_ready, m_done, m_error;
  logic [31:0] mc_addr;
  logic [15:0] mc_bytes;
  logic [63:0] mw_data, mr_data;

  myri_pci_config #(
      .VENDOR(32'h4357),
      .DEVICE(32'h1000),
      .CLASS_REV(32'h1180_0000)
  ) u_config (
      .clk,
      .rst,
      .cfg_base,
      .cfg_enabled(1'b1),
      .cs_write,
      .cs_reg,
      .cs_wdata,
      .cs_be,
      .cs_rdata,
      .bar_base,
      .bar_size_log2,
      .mem_enable,
      .master_enable,
      .latency_timer,
      .interrupt_line,
      .busy(config_busy)
  );
  myri_pci_target u_target (
      .clk,
      .rst,
      .cycle,
      .pci_in,
      .pci_out(target_out),
      .bar_base,
      .bar_size_log2,
      .mem_enable,
      .cfg_wide,
      .cfg_devsel,
      .cfg_write_initial,
      .cfg_read_initial,
      .cfg_subsequent,
      .cfg_read_wait,
      .cfg_stall_limit,
      .cfg_max_phases,
      .cfg_discard,
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
      .tr_first(tr_begin),
      .td_valid,
      .td_data,
      .cs_write,
      .cs_reg,
      .cs_wdata,
      .cs_be,
      .cs_rdata,
      .ev_first(tr_first),
      .ev_last(tr_last),
      .ev_write,
      .ev_retry(t_retry),
      .ev_disconnect(t_disconnect),
      .busy(target_busy)
  );
  myri_pci_master u_master (
      .clk,
      .rst,
      .pci_in,
      .pci_out(master_out),
      .cfg_wide,
      .cfg_latency_timer,
      .cfg_max_burst,
      .cfg_start_delay,
      .cfg_irdy_wait,
      .cfg_line_bytes,
      .mc_valid,
      .mc_ready,
      .mc_write,
      .mc_config(1'b0),
      .mc_addr,
      .mc_bytes,
      .mw_valid,
      .mw_ready,
      .mw_data,
      .mr_valid,
      .mr_ready,
      .mr_data,
      .m_done,
      .m_error,
      .ev_start,
      .ev_retry(m_retry),
      .ev_disconnect(m_disconnect),
      .busy(master_busy)
  );
  myri_pci_merge u_merge (
      .a_out(target_out),
      .b_out(master_out),
      .inta (1'b0),
      .m66  (cfg_m66),
      .pci_out
  );

  // ---------------------------------------------------------------- banks or registers
  // Reads are answered in order: one to a register waits until none to a bank is on its way, and the other way round.
  logic w_bank, r_bank, bank_tw_ready, bank_tr_ready, bank_td_valid, reg_w_ready, reg_r_done;
  logic reg_r_valid, reg_due;
  logic [1:0] bank_due;
  logic [63:0] bank_data, reg_data;
  assign w_bank = !tw_addr[23];
  assign r_bank = !tr_addr[23];
  assign tw_ready = w_bank ? bank_tw_ready : reg_w_ready;
  assign reg_r_valid = tr_valid && !r_bank && bank_due == '0;
  assign tr_ready = r_bank ? bank_tr_ready : reg_r_valid;
  assign td_valid = bank_td_valid || reg_r_done;
  assign td_data = bank_td_valid ? bank_data : reg_data;
  always_ff @(posedge clk) begin
    if (rst) begin
      bank_due <= '0;
      reg_due  <= 1'b0;
    end else begin
      bank_due <= bank_due + 2'(bank_tr_ready) - 2'(bank_td_valid);
      reg_due  <= reg_r_valid;
    end
  end

  // ---------------------------------------------------------------- the bus side
  logic [3:0] access, host_owns, hold, bank_busy, bank_f_busy;
  logic local_busy, registers_busy, uplink_busy, mailbox_waits, dma_start, dma_active;
  logic [31:0] nic_queue, nic_back, nic_front, nic_read0, nic_read1, dma_source;
  logic [23:0] nic_limit, job_value;
  logic [22:0] dma_target, ur_addr, dw_addr;
  logic [15:0] dma_bytes;
  logic ur_valid, ur_ready, ud_valid, dw_valid, dw_ready, job_valid, job_ready, sent;
  logic [ 1:0] job_kind;
  logic [63:0] dw_data;
  logic [ 7:0] dw_be;

  myri_card_local u_local (
      .clk,
      .rst,
      .tw_valid(tw_valid && w_bank),
      .tw_ready(bank_tw_ready),
      .tw_addr(tw_addr[22:0]),
      .tw_data,
      .tw_be,
      .dw_valid,
      .dw_ready,
      .dw_addr,
      .dw_data,
      .dw_be,
      .tr_valid(tr_valid && r_bank && !reg_due && !reg_r_done && bank_due != 2'd3),
      .tr_ready(bank_tr_ready),
      .tr_addr(tr_addr[22:0]),
      .td_valid(bank_td_valid),
      .ur_valid,
      .ur_ready,
      .ur_addr,
      .ud_valid,
      .rdata(bank_data),
      .access,
      .host_owns,
      .mem_valid,
      .mem_write,
      .mem_addr,
      .mem_wdata,
      .mem_be,
      .mem_rdata,
      .busy(local_busy)
  );

  logic f_write_valid, f_write_ready, s_valid;
  logic [7:0] f_write_addr;
  logic [31:0] f_write_data, s_value;
  logic [2:0] s_index;
  logic s_ready;
  myri_card_registers u_registers (
      .clk,
      .rst,
      .cycle,
      .w_valid(tw_valid && !w_bank),
      .w_ready(reg_w_ready),
      .w_addr(tw_addr[7:0]),
      .w_data(tw_data),
      .w_be(tw_be),
      .r_valid(reg_r_valid),
      .r_addr(tr_addr[7:0]),
      .r_done(reg_r_done),
      .r_data(reg_data),
      .f_valid(f_write_valid),
      .f_ready(f_write_ready),
      .f_addr(f_write_addr),
      .f_data(f_write_data),
      .s_valid,
      .s_ready,
      .s_index,
      .s_value,
      .host_owns,
      .hold,
      .nic_queue,
      .nic_limit,
      .nic_back,
      .nic_front,
      .nic_read0,
      .nic_read1,
      .dma_start,
      .dma_source,
      .dma_target,
      .dma_bytes,
      .dma_active,
      .mailbox_waits,
      .alarm_valid,
      .alarm_cycle,
      .busy(registers_busy)
  );

  logic [15:0] mailbox_waited;
  always_ff @(posedge clk) begin
    if (rst) begin
      mailbox_waited <= '0;
      ev_mailbox <= 1'b0;
    end else begin
      mailbox_waited <= mailbox_waits ? mailbox_waited + 16'd1 : '0;
      ev_mailbox <= cfg_patience != '0 && mailbox_waits && mailbox_waited == cfg_patience;
    end
  end

  myri_card_uplink u_uplink (
      .clk,
      .rst,
      .cfg_pause,
      .job_valid,
      .job_ready,
      .job_kind,
      .job_value,
      .nic_queue,
      .nic_limit,
      .nic_back,
      .nic_front,
      .nic_read0,
      .nic_read1,
      .dma_start,
      .dma_source,
      .dma_target,
      .dma_bytes,
      .dma_active,
      .sent,
      .ur_valid,
      .ur_ready,
      .ur_addr,
      .ud_valid,
      .ud_data(bank_data),
      .dw_valid,
      .dw_ready,
      .dw_addr,
      .dw_data,
      .dw_be,
      .mc_valid,
      .mc_ready,
      .mc_write,
      .mc_addr,
      .mc_bytes,
      .mw_valid,
      .mw_ready,
      .mw_data,
      .mr_valid,
      .mr_ready,
      .mr_data,
      .m_done,
      .busy(uplink_busy)
  );

  // ---------------------------------------------------------------- the two sides
  logic [3:0] want, granted;
  for (genvar i = 0; i < 4; i++) begin : gen_bank
    myri_card_bank u_bank (
        .clk,
        .rst,
        .cfg_latency(cfg_cdc_latency),
        .cfg_linger,
        .cfg_patience,
        .access(access[i]),
        .hold(hold[i]),
        .host_owns(host_owns[i]),
        .ev_patience(ev_patience[i]),
        .f_clk,
        .f_rst,
        .want(want[i]),
        .granted(granted[i]),
        .busy(bank_busy[i]),
        .f_busy(bank_f_busy[i])
    );
  end

  logic
      write_w_busy,
      write_r_busy,
      job_w_busy,
      job_r_busy,
      status_w_busy,
      status_r_busy,
      sent_w_busy,
      sent_r_busy;
  logic f_valid, f_ready, fj_valid, fj_ready, fs_valid, fs_ready, f_sent;
  logic [7:0] f_addr;
  logic [31:0] f_data, fs_value;
  logic [ 1:0] fj_kind;
  logic [23:0] fj_value;
  logic [ 2:0] fs_index;
  myri_cdc_fifo #(
      .WIDTH(40),
      .DEPTH_LOG2(FIFO_LOG2)
  ) u_writes (
      .cfg_latency(cfg_cdc_latency),
      .w_clk(clk),
      .w_rst(rst),
      .w_valid(f_write_valid),
      .w_ready(f_write_ready),
      .w_data({f_write_addr, f_write_data}),
      .w_busy(write_w_busy),
      .r_clk(f_clk),
      .r_rst(f_rst),
      .r_valid(f_valid),
      .r_ready(f_ready),
      .r_data({f_addr, f_data}),
      .r_busy(write_r_busy)
  );
  myri_cdc_fifo #(
      .WIDTH(26),
      .DEPTH_LOG2(FIFO_LOG2)
  ) u_jobs (
      .cfg_latency(cfg_cdc_latency),
      .w_clk(f_clk),
      .w_rst(f_rst),
      .w_valid(fj_valid),
      .w_ready(fj_ready),
      .w_data({fj_kind, fj_value}),
      .w_busy(job_w_busy),
      .r_clk(clk),
      .r_rst(rst),
      .r_valid(job_valid),
      .r_ready(job_ready),
      .r_data({job_kind, job_value}),
      .r_busy(job_r_busy)
  );
  myri_cdc_fifo #(
      .WIDTH(35),
      .DEPTH_LOG2(FIFO_LOG2)
  ) u_status (
      .cfg_latency(cfg_cdc_latency),
      .w_clk(f_clk),
      .w_rst(f_rst),
      .w_valid(fs_valid),
      .w_ready(fs_ready),
      .w_data({fs_index, fs_value}),
      .w_busy(status_w_busy),
      .r_clk(clk),
      .r_rst(rst),
      .r_valid(s_valid),
      .r_ready(s_ready),
      .r_data({s_index, s_value}),
      .r_busy(status_r_busy)
  );
  myri_event_cross #(
      .N(1)
  ) u_sent (
      .cfg_latency(cfg_cdc_latency),
      .w_clk(clk),
      .w_rst(rst),
      .w_event(sent),
      .w_busy(sent_w_busy),
      .r_clk(f_clk),
      .r_rst(f_rst),
      .r_event(f_sent),
      .r_busy(sent_r_busy)
  );

  // ---------------------------------------------------------------- the FPGA
  logic ce, known, here, shell_busy, circuits_busy, circuit_access, trespass, bank_due_f;
  logic [7:0] image, circuit;
  logic [  1:0] slot;
  logic [  3:0] active;
  logic [127:0] arguments;
  logic in_valid, in_ready, in_last, out_valid, out_ready, out_last;
  logic [2:0] in_bytes, out_bytes;
  logic [31:0] in_data, out_data;
  myri_card_shell u_shell (
      .clk(f_clk),
      .rst(f_rst),
      .ce,
      .f_valid,
      .f_ready,
      .f_addr,
      .f_data,
      .s_valid(fs_valid),
      .s_ready(fs_ready),
      .s_index(fs_index),
      .s_value(fs_value),
      .job_valid(fj_valid),
      .job_ready(fj_ready),
      .job_kind(fj_kind),
      .job_value(fj_value),
      .sent(f_sent),
      .want,
      .granted,
      .image,
      .circuit,
      .known,
      .here,
      .slot,
      .active,
      .arguments,
      .in_valid,
      .in_ready,
      .in_last,
      .in_bytes,
      .in_data,
      .out_valid,
      .out_ready,
      .out_last,
      .out_bytes,
      .out_data,
      .head_valid,
      .head_bank,
      .head_addr,
      .head_rdata,
      .result_valid,
      .result_addr,
      .result_wdata,
      .tr_take,
      .tr_give,
      .tr_key,
      .busy(shell_busy)
  );
  myri_card_circuits u_circuits (
      .clk(f_clk),
      .rst(f_rst),
      .ce,
      .image,
      .circuit,
      .known,
      .here,
      .slot,
      .active,
      .arguments,
      .in_valid,
      .in_ready,
      .in_last,
      .in_bytes,
      .in_data,
      .out_valid,
      .out_ready,
      .out_last,
      .out_bytes,
      .out_data,
      .mem_valid(circuit_access),
      .mem_ready(granted[3]),
      .mem_write(bank_write),
      .mem_addr(bank_addr),
      .mem_wdata(bank_wdata),
      .mem_rvalid(bank_due_f),
      .mem_rdata(bank_rdata),
      .trespass,
      .busy(circuits_busy)
  );
  assign bank_valid  = ce && circuit_access && granted[3];
  assign ev_trespass = trespass || (circuit_access && !granted[3]);
  always_ff @(posedge f_clk) begin
    if (f_rst) bank_due_f <= 1'b0;
    else if (ce) bank_due_f <= bank_valid && !bank_write;
  end

  // ---------------------------------------------------------------- sleep
  assign busy = target_busy || master_busy || config_busy || local_busy || registers_busy || uplink_busy
      || bank_busy != '0 || write_w_busy || job_r_busy || status_r_busy || sent_w_busy || reg_due || bank_due != '0;
  assign f_busy = shell_busy || circuits_busy || bank_f_busy != '0 || write_r_busy || job_w_busy || status_w_busy
      || sent_r_busy;
  assign st_in_flight = uplink_busy || local_busy;

  logic unused;
  assign unused = &{1'b0, master_enable, latency_timer, interrupt_line, tr_bytes, tr_begin, ev_write, t_retry,
      t_disconnect, ev_start, m_retry, m_disconnect, m_error, bar_base[23:0], tw_addr[31:24], tw_addr[22:8],
      tr_addr[31:24], tr_addr[22:8]};
endmodule
