// Bus side of the FPGA card, in the PCI clock: accesses of the card's window to banks, registers or the configuration
// port, and the card as bus master.
//
// Reads are answered in order: a register read waits until no bank read is pending, and vice versa.
// Timing: see myri_card_local, myri_card_registers, myri_card_config, myri_card_uplink.
module myri_card_bus
  import myri_card_pkg::*;
  import myri_pci_pkg::*;
(
    input logic clk,  // PCI clock
    input logic rst,  // synchronous reset
    input logic [15:0] cfg_patience,  // clocks that a write of CONTROL waits before ev_mailbox; 0 = no limit
    input logic [7:0] cfg_pause,  // see myri_card_uplink
    input logic [7:0] cfg_config_wait,  // see myri_card_config
    input logic [31:0] identity,  // of the circuit file; constant
    input logic [7:0] files,  // number of its images; constant
    input logic tw_valid,  // write beat of the target
    output logic tw_ready,  // accepted
    input pci_write_t tw,  // the beat
    input logic tread_valid,  // read request of the target
    output logic tread_ready,  // accepted
    input pci_read_t tread,  // the request
    output logic td_valid,  // its answer
    output logic [63:0] td_data,  // byte lanes
    output logic mc_valid,  // command of the master
    input logic mc_ready,  // accepted
    output pci_transfer_t mc,  // the command
    output logic mw_valid,  // write beat
    input logic mw_ready,  // accepted
    output logic [63:0] mw_data,  // byte lanes
    input logic mr_valid,  // read beat
    output logic mr_ready,  // accepted
    input logic [63:0] mr_data,  // byte lanes
    input logic m_done,  // strobe: the command has finished
    output logic mem_valid,  // access of a bank
    output logic mem_write,  // 1 = write
    output logic [22:0] mem_addr,  // byte offset in the banks, multiple of 4
    output logic [31:0] mem_wdata,  // write data
    output logic [3:0] mem_be,  // bytes written
    input logic [31:0] mem_rdata,  // read data, one clock later
    output logic [3:0] access,  // banks that the bus side accesses in this clock
    output logic [3:0] hold,  // banks that the host holds
    input logic [3:0] host_owns,  // banks that the bus side owns
    output logic write_valid,  // a register of the fabric is written
    input logic write_ready,  // accepted
    output card_write_t write_word,  // register and value
    input logic s_valid,  // status word of the fabric
    output logic s_ready,  // accepted
    input card_report_t s_word,  // kind and value
    input logic job_valid,  // job of the shell
    output logic job_ready,  // it has finished
    input card_job_t job,  // the job
    output logic sent,  // strobe: a result is in the NIC's memory
    output logic ev_mailbox,  // strobe: a write of the control mailbox has exceeded cfg_patience
    output logic in_flight,  // 1 = a job or a transfer is unfinished
    output logic busy  // 1 = a further clock edge is needed
);
  logic w_bank, w_config, r_bank, reg_w_ready, reg_r_done;
  logic config_tw_ready, bank_tw_ready, bank_tread_ready, bank_td_valid;
  logic reg_r_valid;
  logic [1:0] bank_due_q;
  logic [63:0] bank_data, reg_data;
  assign w_bank = !tw.addr[23];
  assign w_config = tw.addr[23:22] == 2'b11;
  assign r_bank = !tread.addr[23];
  assign tw_ready = w_bank ? bank_tw_ready : w_config ? config_tw_ready : reg_w_ready;
  assign reg_r_valid = tread_valid && !r_bank && bank_due_q == '0;
  assign tread_ready = r_bank ? bank_tread_ready : reg_r_valid;
  assign td_valid = bank_td_valid || reg_r_done;
  assign td_data = bank_td_valid ? bank_data : reg_data;
  always_ff @(posedge clk) begin
    if (rst) bank_due_q <= '0;
    else bank_due_q <= bank_due_q + 2'(bank_tread_ready) - 2'(bank_td_valid);
  end

  logic registers_busy, config_busy, mailbox_waits, dma_start, dma_active, room;
  logic c_valid, c_ready, tell_valid, tell_ready, told, loading;
  logic [31:0] c_data, loaded_bytes;
  card_change_t tell;
  card_load_t   outcome;
  logic [31:0] nic_queue, nic_back, nic_front, nic_read0, nic_read1, dma_source;
  logic [23:0] nic_limit;
  logic [23:0] dma_target;
  logic [22:0] ur_addr, dw_addr;
  logic [15:0] dma_bytes;
  logic
      ur_valid, ur_ready, ud_valid, dw_valid, dw_ready, bank_dw_ready, config_dw_ready, dma_config;
  logic [63:0] dw_data;
  logic [ 7:0] dw_be;
  myri_card_local u_local (
      .tw_valid(tw_valid && w_bank),
      .tw_ready(bank_tw_ready),
      .tw,
      .tread_valid(tread_valid && r_bank && !reg_r_done && bank_due_q != 2'd3),
      .tread_ready(bank_tread_ready),
      .tread,
      .td_valid(bank_td_valid),
      .rdata(bank_data),
      .clk,
      .rst,
      .dw_valid(dw_valid && !dma_config),
      .dw_ready(bank_dw_ready),
      .dw_addr,
      .dw_data,
      .dw_be,
      .ur_valid,
      .ur_ready,
      .ur_addr,
      .ud_valid,
      .access,
      .host_owns,
      .mem_valid,
      .mem_write,
      .mem_addr,
      .mem_wdata,
      .mem_be,
      .mem_rdata
  );
  myri_card_registers u_registers (
      .w_valid(tw_valid && !w_bank && !w_config),
      .w_ready(reg_w_ready),
      .w_addr(tw.addr[7:0]),
      .w_data(tw.data),
      .w_be(tw.be),
      .r_valid(reg_r_valid),
      .r_addr(tread.addr[7:0]),
      .r_done(reg_r_done),
      .r_data(reg_data),
      .f_valid(write_valid),
      .f_ready(write_ready),
      .f_word(write_word),
      .busy(registers_busy),
      .clk,
      .rst,
      .s_valid,
      .s_ready,
      .s_word,
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
      .c_valid,
      .c_ready,
      .c_data,
      .tell_valid,
      .tell_ready,
      .tell,
      .told,
      .loading,
      .outcome,
      .loaded_bytes
  );
  assign dw_ready = dma_config ? config_dw_ready : bank_dw_ready;
  myri_card_config u_config (
      .cfg_wait(cfg_config_wait),
      .tw_valid(tw_valid && w_config),
      .tw_ready(config_tw_ready),
      .tw_data(tw.data),
      .tw_be(tw.be),
      .dma(dma_active && dma_config),
      .dw_valid(dw_valid && dma_config),
      .dw_ready(config_dw_ready),
      .bytes(loaded_bytes),
      .busy(config_busy),
      .clk,
      .rst,
      .identity,
      .files,
      .c_valid,
      .c_ready,
      .c_data,
      .dw_data,
      .dw_be,
      .room,
      .tell_valid,
      .tell_ready,
      .tell,
      .told,
      .loading,
      .outcome
  );
  myri_card_uplink u_uplink (
      .ud_data(bank_data),
      .busy(in_flight),
      .clk,
      .rst,
      .cfg_pause,
      .job_valid,
      .job_ready,
      .job,
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
      .dma_config,
      .room,
      .sent,
      .ur_valid,
      .ur_ready,
      .ur_addr,
      .ud_valid,
      .dw_valid,
      .dw_ready,
      .dw_addr,
      .dw_data,
      .dw_be,
      .mc_valid,
      .mc_ready,
      .mc,
      .mw_valid,
      .mw_ready,
      .mw_data,
      .mr_valid,
      .mr_ready,
      .mr_data,
      .m_done
  );

  logic [15:0] mailbox_waited_q;
  always_ff @(posedge clk) begin
    if (rst) begin
      mailbox_waited_q <= '0;
      ev_mailbox <= 1'b0;
    end else begin
      mailbox_waited_q <= mailbox_waits ? mailbox_waited_q + 16'd1 : '0;
      ev_mailbox <= cfg_patience != '0 && mailbox_waits && mailbox_waited_q == cfg_patience;
    end
  end

  // A client of a bank keeps the clock running until it has its answer: the target by itself, the uplink in its states.
  assign busy = in_flight || registers_busy || config_busy;

  logic unused;
  assign unused = &{1'b0, tw.addr[31:24], tread.addr[31:24], tread.bytes, tread.first};
endmodule
