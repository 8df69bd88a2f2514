// Samples of a NIC's SRAM for a monitor in Python: both ports of the memory, and what the requesters of its arbiter see.
//
// The four lanes are decoded by tb/monitors/sram.py: control, write data of the ports, data that requesters receive (the
// first two with valid data), and read data of the ports.
module sim_sram_monitor
  import myri_sram_pkg::*;
#(
    parameter int UNIT = 0,  // unit number of the samples
    parameter int REQUESTERS = 5  // 8 at most
) (
    input logic clk,  // NIC clock
    input logic rst,
    input sram_request_t mem_a,
    input logic [63:0] mem_a_rdata,
    input sram_request_t mem_b,
    input logic [63:0] mem_b_rdata,
    input logic [REQUESTERS-1:0] requests,  // in order of rank, the highest in bit 0
    input logic [REQUESTERS-1:0] on_a,  // granted on port a
    input logic [REQUESTERS-1:0] on_b,  // granted on port b
    input logic [REQUESTERS-1:0] valid,  // requesters that receive read data
    input logic [64*REQUESTERS-1:0] read,  // read data of each requester
    output logic busy  // 1 = a further clock edge is needed
);
  localparam int REST = 8 - REQUESTERS;
  logic [63:0] low, high, first, second;
  logic [REQUESTERS-1:0] head, next;
  assign low = {
    2'd0,
    mem_b.be,
    mem_b.addr[22:2],
    mem_b.write,
    mem_b.req,
    mem_a.be,
    mem_a.addr[22:2],
    mem_a.write,
    mem_a.req
  };
  assign high = {
    32'd0, {REST{1'b0}}, valid, {REST{1'b0}}, on_b, {REST{1'b0}}, on_a, {REST{1'b0}}, requests
  };
  assign head = valid & (~valid + 1'b1);
  assign next = valid & ~head & (~(valid & ~head) + 1'b1);
  always_comb begin
    first  = '0;
    second = '0;
    for (int i = 0; i < REQUESTERS; i++) begin
      if (head[i]) first = read[64*i+:64];
      if (next[i]) second = read[64*i+:64];
    end
  end
  logic unused_address;
  assign unused_address = ^{mem_a.addr[1:0], mem_b.addr[1:0]};

  sim_monitor #(
      .UNIT (UNIT),
      .LANES(4)
  ) monitor (
      .clk,
      .rst,
      .wires({mem_b_rdata, mem_a_rdata, second, first, mem_b.wdata, mem_a.wdata, high, low}),
      .ends (valid != '0 || (mem_a.req && mem_a.write) || (mem_b.req && mem_b.write)),
      .busy
  );
endmodule
