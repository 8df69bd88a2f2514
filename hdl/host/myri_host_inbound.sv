// Memory side of the host bridge: inbound write buffer, and reads ordered after the buffered writes.
//
// Writes wait in a buffer of cfg_in_buffer beats that drains at cfg_drain_num/cfg_drain_den beats per clock; the target
// disconnects or retries when the buffer is full. A read waits until the buffer is empty. Its first lane group arrives
// cfg_read_latency clocks (at least 1) after the request, the following ones one per clock.
module myri_host_inbound
  import myri_pci_pkg::*;
#(
    parameter int DEPTH_LOG2 = 6  // largest buffer = 2**this beats
) (
    input  logic              clk,               // PCI clock
    input  logic              rst,               // synchronous, active high
    input  logic       [ 7:0] cfg_in_buffer,     // beats held, 1..2**DEPTH_LOG2 (0 = all)
    input  logic       [ 7:0] cfg_drain_num,     // drain rate, beats ...
    input  logic       [ 7:0] cfg_drain_den,     // ... per so many clocks
    input  logic       [ 7:0] cfg_read_latency,  // clocks to the first read data, 1..255
    input  logic              tw_valid,          // write beat from the target
    output logic              tw_ready,          // accepted
    input  pci_write_t        tw,                // the beat
    input  logic              tread_valid,       // read request from the target
    output logic              tread_ready,       // accepted
    input  pci_read_t         tread,             // the request
    output logic              td_valid,          // answer
    output logic       [63:0] td_data,           // byte lanes
    output logic              mem_valid,         // access to host memory
    output logic              mem_write,         // 1 = write
    output logic       [31:0] mem_addr,          // 8-byte aligned
    output logic       [63:0] mem_wdata,         // byte lanes
    output logic       [ 7:0] mem_be,            // bytes written
    input  logic       [63:0] mem_rdata,         // valid one clock after a read
    output logic              idle,              // all writes are in memory
    output logic              needed             // 1 = the coming edge changes state
);
  logic f_ready, f_valid, f_busy, drain;
  pci_write_t buffered;
  logic [DEPTH_LOG2:0] level;
  logic [8:0] share_q, share_d;  // part of a beat that has drained, in 1/den
  logic [7:0] waited_q;  // clocks the first request has waited

  assign tw_ready = f_ready & (cfg_in_buffer == 8'd0 | 8'(level) < cfg_in_buffer);
  myri_fifo #(
      .WIDTH($bits(pci_write_t)),
      .DEPTH_LOG2(DEPTH_LOG2)
  ) u_buffer (
      .clk,
      .rst,
      .w_valid(tw_valid & tw_ready),
      .w_ready(f_ready),
      .w_data(tw),
      .r_valid(f_valid),
      .r_ready(drain),
      .r_data(buffered),
      .level,
      .busy(f_busy)
  );

  assign share_d = share_q + {1'b0, cfg_drain_num};
  assign drain = f_valid & (share_d >= {1'b0, cfg_drain_den});

  assign tread_ready = ~f_valid & ~tw_valid & (~tread.first | {1'b0, waited_q} + 9'd1 >= {1'b0, cfg_read_latency});
  assign mem_valid = drain | (tread_valid & tread_ready);
  assign mem_write = drain;
  assign mem_addr = drain ? buffered.addr : tread.addr;
  assign mem_wdata = drain ? buffered.data : 64'd0;
  assign mem_be = drain ? buffered.be : 8'd0;
  assign td_data = mem_rdata;

  assign idle = ~f_valid;
  assign needed = f_busy | f_valid | tread_valid | td_valid;

  always_ff @(posedge clk) begin
    if (rst) begin
      share_q  <= '0;
      waited_q <= '0;
      td_valid <= 1'b0;
    end else begin
      if (!f_valid) share_q <= '0;
      else if (!drain) share_q <= share_d;
      else share_q <= (cfg_drain_num >= cfg_drain_den) ? '0 : share_d - {1'b0, cfg_drain_den};
      if (tread_valid && tread_ready) waited_q <= '0;
      else if (tread_valid && tread.first && !f_valid && !tw_valid) waited_q <= waited_q + 8'd1;
      td_valid <= tread_valid & tread_ready;
    end
  end

  logic unused;
  assign unused = &{1'b0, tread.bytes};
endmodule
