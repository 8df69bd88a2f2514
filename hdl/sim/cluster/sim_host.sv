// Environment of a host bridge in simulation: host memory in C, and the CPU's loads and stores (host_cpu.c). One block
// calls C in a fixed order at each edge: CPU, then the memory read, then the memory write.
`include "doorway.svh"
module sim_host #(
    parameter int UNIT   = 0,  // the CPU's unit number
    parameter int MEMORY = 0   // the host memory's number
) (
    input logic clk,
    input logic rst,
    // host memory port, read data one clock later
    input logic mem_valid,
    input logic mem_write,
    input logic [31:0] mem_addr,
    input logic [63:0] mem_wdata,
    input logic [7:0] mem_be,
    output logic [63:0] mem_rdata,
    // CPU side of the bridge
    output logic cpu_valid,
    input logic cpu_ready,
    output logic cpu_write,
    output logic [31:0] cpu_addr,
    output logic [63:0] cpu_data,
    output logic [7:0] cpu_be,
    output logic cpu_wc,
    output logic cpu_fence,
    input logic cpu_rvalid,
    input logic [63:0] cpu_rdata,
    input logic tr_pio_done,  // a transaction of the CPU has finished; a read does with its data
    input logic tr_pio_error,  // ... and no target answered it
    output logic busy  // 1 = the CPU needs the next edge
);
  localparam int LOADED = 1;  // arguments to C
  localparam int UNANSWERED = 2;
  int action, loaded;
  logic failed_q, failed;
  assign failed = tr_pio_done ? tr_pio_error : failed_q;
  longint now;
  always_ff @(posedge clk) begin
    now = $time;
    if (rst) begin
      {cpu_valid, cpu_write, cpu_wc, cpu_fence, busy, failed_q} <= 6'd0;
      cpu_addr <= '0;
      cpu_data <= '0;
      cpu_be <= '0;
      mem_rdata <= '0;
    end else begin
      loaded = !cpu_rvalid ? 0 : failed ? UNANSWERED : LOADED;
      action = `SAN(san_host_clock) (UNIT, MEMORY, now, {31'd0, cpu_valid && cpu_ready}, loaded,
                                     cpu_rdata);
      failed_q <= failed;
      {busy, cpu_fence, cpu_wc, cpu_write, cpu_valid} <= action[4:0];
      if (action[0]) begin
        cpu_addr <= `SAN(san_host_address) (UNIT);
        cpu_data <= `SAN(san_host_data) (UNIT);
        cpu_be   <= 8'(`SAN(san_host_enables) (UNIT));
      end
      if (mem_valid && !mem_write) mem_rdata <= `SAN(san_mem_read) (MEMORY, mem_addr);
      if (mem_valid && mem_write)
        `SAN(san_mem_write) (MEMORY, mem_addr, mem_wdata, {24'd0, mem_be});
    end
  end
endmodule
