// FPGA card of a node with its run-time settings, SRAM, trace points, invariants, and the sleep of its fabric clock.
module sim_fpga
  import myri_card_pkg::*;
  import myri_sleep_pkg::*;
  import myri_pci_pkg::*;
  import myri_settings_pkg::*;
  import sim_settings_pkg::*;
  import sim_trace_pkg::*;
#(
    parameter int BASE         = 0,  // first unit number of the node, and its settings unit
    parameter int SLOT         = 1,  // connector on the bus
    parameter int MEMORY       = 0,  // number of the SRAM
    parameter int CLOCK_FABRIC = 0   // index of the fabric clock
) (
    input  logic            clk,
    input  logic            rst,
    input  logic            off,           // the card has no supply
    input  logic     [47:0] cycle,
    output logic            busy,
    output alarm_t          alarm,
    output logic            in_flight,
    input  logic            fabric_clk,
    input  logic     [47:0] fabric_cycle,
    output logic            fabric_awake,
    input  pci_in_t         pci_in,
    output pci_out_t        pci_out
);
  // ---------------------------------------------------------------- run-time settings
  fpga_settings_t cfg;
  pci_card_settings_t shared_q, cfg_pci;
  always_ff @(posedge clk) begin
    if (rst) begin
      cfg <= fpga_settings(BASE);
      shared_q <= pci_card_settings(BASE);
    end
  end
  always_comb begin
    cfg_pci = shared_q;  // with the NIC, but for these
    cfg_pci.base = 32'hE000_0000 + 32'(SLOT) * 32'h0100_0000;
    cfg_pci.wide = cfg.wide;
    cfg_pci.m66 = cfg.m66;
    cfg_pci.master.start_delay = cfg.start_delay;
    cfg_pci.target.write_initial = cfg.write_initial;
    cfg_pci.target.read_initial = cfg.read_initial;
  end

  // ---------------------------------------------------------------- the card and its SRAM
  logic f_busy, mem_valid, mem_write, head_valid, head_bank, result_valid, bank_valid, bank_write;
  logic [22:0] mem_addr;
  logic [31:0] mem_wdata, mem_rdata, head_rdata, result_wdata, bank_wdata, bank_rdata;
  logic [3:0] mem_be;
  logic [18:0] head_addr, result_addr, bank_addr;
  card_trace_t trace;
  card_shell_trace_t shell;
  assign shell = trace.shell;
  logic card_busy, f_off_q, f_settled_q, f_wakes;
  always_ff @(posedge fabric_clk) begin
    if (rst) {f_off_q, f_settled_q} <= 2'b00;
    else {f_off_q, f_settled_q} <= {off, f_off_q};
  end
  assign f_wakes = f_off_q != off || f_settled_q != f_off_q;  // the fabric needs edges for its reset
  assign busy = card_busy && !off;
  assign in_flight = trace.in_flight && !off;
  assign alarm = NO_ALARM;
  logic unused_trace;
  assign unused_trace = ^trace;
  myri_fpga_card #(
      .UNIT(BASE + PART_FPGA)
  ) card (
      .f_clk(fabric_clk),
      .f_rst(rst || off || f_off_q),
      .clk,
      .rst  (rst || off),
      .cycle,
      .busy (card_busy),
      .f_busy,
      .pci_in,
      .pci_out,
      .cfg_pci,
      .cfg,
      .mem_valid,
      .mem_write,
      .mem_addr,
      .mem_wdata,
      .mem_be,
      .mem_rdata,
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
      .trace
  );
  sim_card_memory #(
      .MEMORY(MEMORY)
  ) sram (
      .f_clk(fabric_clk),
      .clk,
      .mem_valid,
      .mem_write,
      .mem_addr,
      .mem_wdata,
      .mem_be,
      .mem_rdata,
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
      .bank_rdata
  );

  // ---------------------------------------------------------------- trace, invariants, sleep
  // A message is taken after the last of the eight words of its header was read.
  logic [19:0] read_q;  // bank and word that were read last
  logic [31:0] taken_at;  // byte offset of the message in the card
  always_ff @(posedge fabric_clk) if (head_valid) read_q <= {head_bank, head_addr};
  assign taken_at = {10'd0, read_q[19], read_q[18:0] - 19'd7, 2'd0};
  sim_probe #(
      .UNIT (BASE + PART_FPGA),
      .EVENT(EV_CARD_TAKE)
  ) take (
      .clk(fabric_clk),
      .rst,
      .strobe(shell.take),
      .packet(shell.key),
      .argument(taken_at),
      .argument2(64'd0),
      .ago(32'd0)
  );
  sim_probe #(
      .UNIT (BASE + PART_FPGA),
      .EVENT(EV_CARD_GIVE)
  ) give (
      .clk(fabric_clk),
      .rst,
      .strobe(shell.give),
      .packet(shell.key),
      .argument(32'd0),
      .argument2(64'd0),
      .ago(32'd0)
  );
  for (genvar i = 0; i < 4; i++) begin : gen_bank
    sim_invariant #(
        .UNIT(BASE + PART_FPGA),
        .CODE(74)
    ) patience (
        .clk,
        .rst,
        .strobe(trace.patience[i]),
        .packet(32'(i))
    );
  end
  sim_invariant #(
      .UNIT(BASE + PART_FPGA),
      .CODE(75)
  ) mailbox (
      .clk,
      .rst,
      .strobe(trace.mailbox),
      .packet(32'd0)
  );
  sim_invariant #(
      .UNIT(BASE + PART_FPGA),
      .CODE(76)
  ) trespass (
      .clk(fabric_clk),
      .rst,
      .strobe(trace.trespass),
      .packet(32'd0)
  );
  sim_awake #(
      .CLOCK(CLOCK_FABRIC)
  ) fabric_sleep (
      .clk(fabric_clk),
      .rst,
      .cycle(fabric_cycle),
      .busy(f_wakes || (f_busy && !off)),
      .in_flight(f_busy && !off),
      .alarm(myri_sleep_pkg::NO_ALARM),
      .awake(fabric_awake)
  );
endmodule
