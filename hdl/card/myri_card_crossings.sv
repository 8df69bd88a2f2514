// Crossings between the PCI clock and the fabric clock of the FPGA card: bank ownership, register writes, status words,
// jobs.
//
// Timing: each crossing costs its latency (cfg_cdc_latency).
module myri_card_crossings
  import myri_card_pkg::*;
#(
    parameter int FIFO_LOG2 = 4  // entries of the crossings = 2**FIFO_LOG2
) (
    input logic clk,  // PCI clock
    input logic rst,  // synchronous reset
    input logic f_clk,  // fabric clock
    input logic f_rst,  // synchronous reset
    input logic [3:0] cfg_cdc_latency,  // latency of every crossing
    input logic [7:0] cfg_linger,  // see myri_card_bank
    input logic [15:0] cfg_patience,  // see myri_card_bank
    input logic [3:0] access,  // banks that the bus side accesses in this clock
    input logic [3:0] hold,  // banks that the host holds
    output logic [3:0] host_owns,  // banks that the bus side owns
    input logic write_valid,  // a register of the fabric is written
    output logic write_ready,  // accepted
    input card_write_t write_word,  // register and value
    output logic s_valid,  // status word of the fabric
    input logic s_ready,  // accepted
    output card_report_t s_word,  // kind and value
    output logic job_valid,  // job of the shell
    input logic job_ready,  // it has finished
    output card_job_t job,  // the job
    input logic sent,  // strobe: a result is in the NIC's memory
    output logic f_valid,  // a register is written
    input logic f_ready,  // accepted
    output card_write_t f_word,  // register and value
    input logic fs_valid,  // status word for the bus side
    output logic fs_ready,  // accepted
    input card_report_t fs_word,  // kind and value
    input logic fj_valid,  // job for the uplink
    output logic fj_ready,  // accepted
    input card_job_t fj_job,  // the job
    output logic f_sent,  // strobe: the result is in the NIC's memory
    input logic [3:0] want,  // banks requested
    output logic [3:0] granted,  // banks granted to the fabric
    output logic [3:0] ev_patience,  // strobes: a bus access has exceeded cfg_patience
    output logic busy,  // PCI clock: 1 = a further edge is needed
    output logic f_busy  // fabric clock: 1 = a further edge is needed
);
  logic [3:0] bank_busy, bank_f_busy;
  for (genvar i = 0; i < 4; i++) begin : gen_bank
    myri_card_bank u_bank (
        .clk,
        .rst,
        .cfg_linger,
        .cfg_patience,
        .f_clk,
        .f_rst,
        .cfg_latency(cfg_cdc_latency),
        .access(access[i]),
        .hold(hold[i]),
        .host_owns(host_owns[i]),
        .ev_patience(ev_patience[i]),
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
  myri_cdc_fifo #(
      .WIDTH($bits(card_write_t)),
      .DEPTH_LOG2(FIFO_LOG2)
  ) u_writes (
      .cfg_latency(cfg_cdc_latency),
      .w_clk(clk),
      .w_rst(rst),
      .w_valid(write_valid),
      .w_ready(write_ready),
      .w_data(write_word),
      .w_busy(write_w_busy),
      .r_clk(f_clk),
      .r_rst(f_rst),
      .r_valid(f_valid),
      .r_ready(f_ready),
      .r_data(f_word),
      .r_busy(write_r_busy)
  );
  myri_cdc_fifo #(
      .WIDTH($bits(card_job_t)),
      .DEPTH_LOG2(FIFO_LOG2)
  ) u_jobs (
      .cfg_latency(cfg_cdc_latency),
      .w_clk(f_clk),
      .w_rst(f_rst),
      .w_valid(fj_valid),
      .w_ready(fj_ready),
      .w_data(fj_job),
      .w_busy(job_w_busy),
      .r_clk(clk),
      .r_rst(rst),
      .r_valid(job_valid),
      .r_ready(job_ready),
      .r_data(job),
      .r_busy(job_r_busy)
  );
  myri_cdc_fifo #(
      .WIDTH($bits(card_report_t)),
      .DEPTH_LOG2(FIFO_LOG2)
  ) u_status (
      .cfg_latency(cfg_cdc_latency),
      .w_clk(f_clk),
      .w_rst(f_rst),
      .w_valid(fs_valid),
      .w_ready(fs_ready),
      .w_data(fs_word),
      .w_busy(status_w_busy),
      .r_clk(clk),
      .r_rst(rst),
      .r_valid(s_valid),
      .r_ready(s_ready),
      .r_data(s_word),
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

  assign busy   = bank_busy != '0 || write_w_busy || job_r_busy || status_r_busy || sent_w_busy;
  assign f_busy = bank_f_busy != '0 || write_r_busy || job_w_busy || status_w_busy || sent_r_busy;
endmodule
