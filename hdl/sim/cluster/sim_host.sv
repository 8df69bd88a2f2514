// The surroundings of a host bridge in simulation: host memory in C, and the CPU's loads and stores (host_cpu.c). One
// block calls C in a fixed order at each edge: CPU, then the memory read, then the memory write.
`include "doorway.svh"
module sim_host #(
    parameter int UNIT   = 0,  // the CPU's unit number
    parameter int MEMORY = 0   // the host memory's number
) (
    input  logic        clk,
    input  logic        rst,
    // host memory port, read data on the clock after
    input  logic        mem_valid,
    input  logic        mem_write,
    input  logic [31:0] mem_addr,
    input  logic [63:0] mem_wdata,
    input  logic [ 7:0] mem_be,
    output logic [63:0] mem_rdata,
    // CPU side of the bridge
    output logic        cpu_valid,
    input  logic        cpu_ready,
    output logic        cpu_write,
    output logic [31:0] cpu_addr,
    output logic [63:0] cpu_data,
    output logic [ 7:0] cpu_be,
    output logic        cpu_wc,
    output logic        cpu_fence,
    input  logic        cpu_rvalid,
    input  logic [63:0] cpu_rdata,
    output logic        busy         // the CPU must see the next edge
);
  int action;
  longint now;
  always_ff @(posedge clk) begin
    now = $time;
    if (rst) begin
      {cpu_valid, cpu_write, cpu_wc, cpu_fence, busy} <= 5'd0;
      cpu_addr <= '0;
      cpu_data <= '0;
      cpu_be <= '0;
      mem_rdata <= '0;
    end else begin
      action = `SAN(san_host_clock) (UNIT, MEMORY, now, {31'd0, cpu_valid && cpu_ready},
                                     {31'd0, cpu_rvalid}, cpu_rdata);
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
