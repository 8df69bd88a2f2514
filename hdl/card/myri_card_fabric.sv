// Contents of the FPGA, in the fabric clock: the message shell and the circuits in its slots.
//
// A circuit accesses bank 3 only while the FPGA owns it. Timing: see myri_card_shell and the circuits.
module myri_card_fabric
  import myri_card_pkg::*;
#(
    parameter int UNIT = 0  // number of the card in a simulation, for circuits in Python
) (
    input logic clk,  // fabric clock
    input logic rst,  // synchronous reset
    output logic [31:0] identity,  // of the circuit file; constant
    output logic [7:0] files,  // number of its images; constant
    input logic f_valid,  // a register is written
    output logic f_ready,  // accepted
    input card_write_t f_word,  // register and value
    output logic fs_valid,  // status word for the bus side
    input logic fs_ready,  // accepted
    output card_report_t fs_word,  // kind and value
    output logic fj_valid,  // job for the uplink
    input logic fj_ready,  // accepted
    output card_job_t fj_job,  // the job
    input logic f_sent,  // strobe: the result is in the NIC's memory
    output logic [3:0] want,  // banks requested
    input logic [3:0] granted,  // banks granted to the fabric
    output logic head_valid,  // read of bank 0 or 1
    output logic head_bank,  // which
    output logic [18:0] head_addr,  // word
    input logic [31:0] head_rdata,  // read data, one clock later
    output logic result_valid,  // write of bank 2
    output logic [18:0] result_addr,  // word
    output logic [31:0] result_wdata,  // write data
    output logic bank_valid,  // access of bank 3
    output logic bank_write,  // 1 = write
    output logic [18:0] bank_addr,  // word
    output logic [31:0] bank_wdata,  // write data
    input logic [31:0] bank_rdata,  // read data, one clock later
    output logic ev_trespass,  // level: a circuit uses bank 3 without a grant
    output card_shell_trace_t trace,  // events of this clock
    output logic busy  // 1 = a further clock edge is needed
);
  logic ce, known, here, shell_busy, circuits_busy, circuit_access, trespass, bank_due_q;
  logic [31:0] images;
  logic [ 7:0] circuit;
  logic [ 1:0] slot;
  logic [24:0] most;
  logic lends, midway;
  logic [CARD_SLOTS-1:0] active;
  logic [3:0][31:0] arguments;
  logic in_valid, in_ready, in_last, out_valid, out_ready, out_last;
  logic [2:0] in_bytes, out_bytes;
  logic [31:0] in_data, out_data;
  myri_card_shell u_shell (
      .s_valid(fs_valid),
      .s_ready(fs_ready),
      .s_word(fs_word),
      .job_valid(fj_valid),
      .job_ready(fj_ready),
      .job(fj_job),
      .sent(f_sent),
      .busy(shell_busy),
      .clk,
      .rst,
      .ce,
      .f_valid,
      .f_ready,
      .f_word,
      .want,
      .granted,
      .images,
      .circuit,
      .known,
      .here,
      .slot,
      .most,
      .working(circuits_busy),
      .active,
      .lends,
      .midway,
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
      .trace
  );
  myri_card_circuits #(
      .UNIT(UNIT)
  ) u_circuits (
      .mem_valid(circuit_access),
      .mem_ready(granted[3] && lends),
      .mem_write(bank_write),
      .mem_addr(bank_addr),
      .mem_wdata(bank_wdata),
      .mem_rvalid(bank_due_q),
      .mem_rdata(bank_rdata),
      .busy(circuits_busy),
      .clk,
      .rst,
      .ce,
      .images,
      .identity,
      .files,
      .circuit,
      .known,
      .here,
      .slot,
      .most,
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
      .trespass
  );
  assign bank_valid = ce && circuit_access && granted[3] && lends;
  assign ev_trespass = trespass || (circuit_access && !granted[3] && !midway);
  assign busy = shell_busy || circuits_busy;
  always_ff @(posedge clk) begin
    if (rst) bank_due_q <= 1'b0;
    else if (ce) bank_due_q <= bank_valid && !bank_write;
  end
endmodule
