// Processor of a LANai card that executes machine code (`sim_core_sleep`), with its trace points. In a build without a
// core (CORE = 0), or if this node's firmware is a Python program (`cfg.run`), the processor model of sim_lanai has the
// special registers, and the SRAM port is idle. Settings are read when the host puts the LANai into reset.
//
// C is called in every clock in which the processor is awake (core.c). It counts, keeps the last instructions, writes
// the trace, and requests the registers when the processor stops.
`include "doorway.svh"
module sim_core
  import myri_nic_engines_pkg::*;
  import myri_lanai_core_pkg::*;
  import myri_lanai_isa_pkg::*;
  import myri_settings_pkg::*;
  import myri_sram_pkg::*;
  import sim_settings_pkg::*;
#(
    parameter int CORE = 0,  // 1 = present
    parameter int UNIT = 0,  // the processor's unit number
    parameter int CLOCK = 0,  // index of the NIC clock
    parameter int BASE = 0,  // the node's settings unit
    parameter int WIDTH = 64,  // bits of a word of SRAM, 32 or 64
    parameter int REGISTER_BITS = 9,  // special registers: 2**REGISTER_BITS bytes
    parameter logic [8:0] ISR = 9'd0  // offset of ISR
) (
    input logic clk,
    input logic rst,
    input logic [47:0] cycle,  // index of the coming edge
    input logic refresh,  // rises before the first edge after a sleep
    input logic lanai_reset,  // level: the host holds the LANai in reset
    // port of the processor model
    input reg_request_t model_reg,
    // port to the NIC
    output reg_request_t cpu_reg,
    input logic [31:0] cpu_reg_rdata,
    output sram_request_t cpu_sram,
    input logic cpu_gnt,
    input sram_read_t cpu_read,
    input logic [31:0] isr,
    input logic written,  // the SRAM is written in this clock
    output logic needed,  // 1 = the coming edge of clk must not be skipped, if it occurs
    output logic busy  // 1 = an edge of clk must occur
);
  if (CORE != 0) begin : gen_core
    core_settings_t cfg;
    core_trace_t trace;
    logic [3:0] fault;
    reg_request_t core_reg;
    logic core_rst;
    logic held, held_q, stopped_q;  // in reset; as of the last edge; halted
    assign held = rst || lanai_reset;
    assign core_rst = held || !cfg.run;
    logic sleeps;
    assign needed = held != held_q || !(core_rst || stopped_q);
    assign busy = needed && !(held == held_q && sleeps);
    assign cpu_reg = core_reg.valid ? core_reg : model_reg;

    sim_core_sleep #(
        .WIDTH(WIDTH),
        .REGISTER_BITS(REGISTER_BITS),
        .UNIT(UNIT),
        .CLOCK(CLOCK),
        .ISR(ISR)
    ) u_sleep (
        .clk,
        .cycle,
        .refresh,
        .cpu_sram,
        .cpu_gnt,
        .cpu_read,
        .cpu_reg_rdata,
        .trace,
        .fault,
        .isr,
        .written,
        .sleeps,
        .rst(core_rst),
        .cfg_load_delay(cfg.load_delay),
        .cfg_fetch_log2(cfg.fetch_log2),
        .cfg_register_clocks(cfg.register_clocks),
        .sram_bytes(cfg.sram_bytes),
        .cpu_reg(core_reg)
    );

    longint now;
    int pc, what, why, stops;
    always_ff @(posedge clk) begin
      held_q <= held;
      if (held && (rst || !held_q)) cfg <= core_settings(BASE);
      stopped_q <= !core_rst && fault != FAULT_NONE;
      if (!core_rst && !stopped_q) begin
        now = $time;
        pc = trace.pc;
        what = {28'd0, trace.retired, trace.stall};
        why = {28'd0, fault};
        stops = `SAN(san_core_clock) (now, UNIT, pc, what, why);
        if (stops != 0) begin
          for (int i = 3; i < 32; i++) begin
            `SAN(san_core_register) (UNIT, i, u_sleep.value(5'(i)));
          end
          `SAN(san_core_stop) (now, UNIT);
        end
      end
    end
  end else begin : gen_model
    assign {needed, busy} = 2'b00;
    assign cpu_sram = SRAM_IDLE;
    assign cpu_reg = model_reg;
    logic unused_ok;
    assign unused_ok = ^{clk, rst, cycle, refresh, isr, written, lanai_reset, cpu_reg_rdata, cpu_gnt, cpu_read};
  end
endmodule
