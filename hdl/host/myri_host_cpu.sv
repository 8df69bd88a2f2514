// CPU side of the host bridge: turns posted writes, write combining, reads and fences into commands of the PCI master,
// in order.
//
// A store is posted when it is accepted; at most cfg_post_depth transactions are accepted and unfinished on the bus. A
// read follows all earlier writes. A fence is accepted once the combining buffer has been posted.
// Timing: a store accepted at one edge reaches the master at the same edge if nothing waits before it.
module myri_host_cpu
  import myri_pci_pkg::*;
(
    input logic clk,  // PCI clock
    input logic rst,  // synchronous, active high
    input  logic [ 4:0] cfg_post_depth,   // transactions posted and not finished, 1..16 (0 counts as 1)
    input logic [6:0] cfg_wc_bytes,  // combining line: 8, 16, 32 or 64 bytes
    input logic [7:0] cfg_read_return,  // clocks from the read data on the bus to the CPU
    input logic cpu_valid,  // access
    output logic cpu_ready,  // access accepted
    input logic cpu_write,  // 1 = store
    input logic [31:0] cpu_addr,  // 8-byte aligned; the bytes are in cpu_be
    input logic [63:0] cpu_data,  // store data in lanes
    input logic [7:0] cpu_be,  // bytes, side by side
    input logic cpu_wc,  // store to write-combining memory
    input logic cpu_fence,  // no access: wait until the combining buffer is posted
    input logic cpu_config,  // configuration cycle instead of memory
    output logic cpu_rvalid,  // read data, strobe
    output logic [63:0] cpu_rdata,  // byte lanes
    output logic mc_valid,  // command to the master
    input logic mc_ready,  // accepted
    output pci_transfer_t mc,  // the command
    output logic mc_config,  // configuration cycle
    output logic mw_valid,  // write beat
    input logic mw_ready,  // accepted
    output logic [63:0] mw_data,  // byte lanes
    input logic mr_valid,  // read beat
    output logic mr_ready,  // accepted
    input logic [63:0] mr_data,  // byte lanes
    input logic m_done,  // command finished
    output logic accepted,  // strobe: store or read accepted at this edge
    output logic idle,  // no store held or posted
    output logic needed  // 1 = the coming edge of clk changes state
);
  // ---- direction of an access ----
  logic combine, plain, room, fits, wc_empty, reading_q, store_wc, direct;
  logic [4:0] posted_q, posted_now;
  assign combine = cpu_valid & cpu_write & cpu_wc & ~cpu_fence & ~cpu_config;
  assign plain = cpu_valid & ~cpu_fence & ~(cpu_write & cpu_wc & ~cpu_config);
  assign posted_now = posted_q - {4'd0, m_done};
  assign room = posted_now < ((cfg_post_depth == 5'd0) ? 5'd1 : (cfg_post_depth > 5'd16) ? 5'd16 : cfg_post_depth);
  assign store_wc = combine & fits & ~reading_q;
  assign direct = plain & wc_empty & room & ~reading_q;
  assign cpu_ready = store_wc | direct | (cpu_valid & cpu_fence & wc_empty & ~reading_q);
  assign accepted = store_wc | direct;

  // ---- combining buffer ----
  logic c_valid, d_valid, c_needed;
  logic [31:0] c_addr;
  logic [ 6:0] c_bytes;
  logic [63:0] d_data;
  myri_host_combine u_combine (
      .clk,
      .rst,
      .cfg_wc_bytes,
      .fits,
      .c_valid,
      .c_addr,
      .c_bytes,
      .d_valid,
      .d_data,
      .store(store_wc),
      .addr(cpu_addr),
      .data(cpu_data),
      .be(cpu_be),
      .flush(cpu_valid & ~store_wc),
      .empty(wc_empty),
      .c_ready(room),
      .needed(c_needed)
  );

  // ---- command of a plain access: first byte and number of bytes ----
  logic [7:0] low, top;  // first and last byte, one-hot
  logic [2:0] lane, last;
  logic [3:0] lanes;
  assign low   = cpu_be & (~cpu_be + 8'd1);
  assign top   = cpu_be & ~(cpu_be >> 1);
  assign lane  = {|low[7:4], |(low & 8'hCC), |(low & 8'hAA)};
  assign last  = {|top[7:4], |(top & 8'hCC), |(top & 8'hAA)};
  assign lanes = {1'b0, last} - {1'b0, lane} + 4'd1;

  logic q_valid, q_needed, w_needed;
  host_command_t q_entry, q_head;
  assign q_valid = direct | (c_valid & room);
  assign q_entry.write = direct ? cpu_write : 1'b1;
  assign q_entry.config_cycle = direct && cpu_config;
  assign q_entry.bytes = direct ? {3'd0, lanes} : c_bytes;
  assign q_entry.addr = direct ? {cpu_addr[31:3], lane} : c_addr;
  myri_host_queue #(
      .WIDTH($bits(host_command_t)),
      .DEPTH_LOG2(4)
  ) u_commands (
      .clk,
      .rst,
      .w_valid(q_valid),
      .w_data (q_entry),
      .r_valid(mc_valid),
      .r_ready(mc_ready),
      .r_data (q_head),
      .needed (q_needed)
  );
  assign mc = {q_head.write, q_head.addr, 9'd0, q_head.bytes};
  assign mc_config = q_head.config_cycle;

  myri_host_queue #(
      .WIDTH(64),
      .DEPTH_LOG2(7)
  ) u_beats (
      .clk,
      .rst,
      .w_valid((direct & cpu_write) | d_valid),
      .w_data (d_valid ? d_data : cpu_data),
      .r_valid(mw_valid),
      .r_ready(mw_ready),
      .r_data (mw_data),
      .needed (w_needed)
  );

  // ---- reads ----
  logic [7:0] wait_left_q;
  assign cpu_rvalid = reading_q & mr_valid & (wait_left_q == 8'd0);
  assign cpu_rdata = mr_data;
  assign mr_ready = cpu_rvalid;

  assign idle = wc_empty & (posted_q == 5'd0);
  assign needed = c_needed | q_valid | q_needed | w_needed | (reading_q & mr_valid) | m_done;

  always_ff @(posedge clk) begin
    if (rst) begin
      posted_q <= '0;
      reading_q <= 1'b0;
      wait_left_q <= '0;
    end else begin
      posted_q <= posted_now + {4'd0, q_valid};
      if (direct && !cpu_write) begin
        reading_q   <= 1'b1;
        wait_left_q <= cfg_read_return;
      end else if (cpu_rvalid) reading_q <= 1'b0;
      else if (reading_q && mr_valid) wait_left_q <= wait_left_q - 8'd1;
    end
  end
endmodule
