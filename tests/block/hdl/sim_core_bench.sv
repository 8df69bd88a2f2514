// LANai processor with its own memory, for the lanai_core bench. Special registers are plain words.
module sim_core_bench
  import myri_lanai_core_pkg::*;
  import myri_nic_engines_pkg::*;
  import myri_sram_pkg::*;
#(
    parameter int WIDTH = 64,  // bits of a word of SRAM, 32 or 64
    parameter int REGISTER_BITS = 9  // special registers: 2**REGISTER_BITS bytes
) (
    input logic clk,  // NIC clock
    input logic rst,  // synchronous reset
    input logic allow,  // the memory grants
    input logic [2:0] cfg_load_delay,  // see myri_lanai_core
    input logic [1:0] cfg_fetch_log2,  // see myri_lanai_core
    input logic [3:0] cfg_register_clocks,  // see myri_lanai_core
    output logic retired,  // an instruction completed in this clock
    output logic [31:0] pc,  // address of the claimed read
    output logic [2:0] stall,  // why none was
    output logic [3:0] fault,  // FAULT_*: the core halts until reset
    output logic reg_valid,  // special register: access in this clock
    output logic reg_write,  // 1 = write
    output logic [8:0] reg_addr,  // offset
    output logic [31:0] reg_wdata  // write data
);
  localparam int SIZE_LOG2 = 14;
  sram_request_t sram;
  sram_read_t sram_read;
  logic sram_gnt;
  core_trace_t trace;
  reg_request_t access;
  assign {reg_valid, reg_write, reg_addr, reg_wdata} = access;
  logic [31:0] special_q  [2**(REGISTER_BITS-2)];
  logic [31:0] reg_rdata;
  logic [23:0] sram_bytes;
  assign sram_bytes = 24'd1 << SIZE_LOG2;
  assign {retired, pc, stall} = trace;
  assign reg_rdata = special_q[reg_addr[REGISTER_BITS-1:2]];
  logic unused_ok;
  assign unused_ok = ^reg_addr;
  always_ff @(posedge clk) begin
    if (rst) for (int i = 0; i < 2 ** (REGISTER_BITS - 2); i++) special_q[i] <= 32'd0;
    else if (reg_valid && reg_write) special_q[reg_addr[REGISTER_BITS-1:2]] <= reg_wdata;
  end

  sim_sram #(
      .SIZE_LOG2(SIZE_LOG2),
      .WIDTH(WIDTH)
  ) u_memory (
      .*
  );
  myri_lanai_core #(
      .WIDTH(WIDTH),
      .REGISTER_BITS(REGISTER_BITS)
  ) u_core (
      .*,
      .cpu_sram(sram),
      .cpu_gnt(sram_gnt),
      .cpu_read(sram_read),
      .cpu_reg(access),
      .cpu_reg_rdata(reg_rdata)
  );
endmodule
