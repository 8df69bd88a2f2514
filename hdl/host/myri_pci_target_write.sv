// Write side of the PCI target: joins the dwords of a 32-bit burst into lane groups and queues four of them for the
// backend.
//
// A data phase is offered to the backend one clock later (32 bits: after the upper dword or the end of the
// transaction).
module myri_pci_target_write
  import myri_pci_pkg::*;
(
    input logic clk,  // PCI clock
    input logic rst,  // synchronous, active high
    input logic xfer,  // a write data phase moves data
    input logic fin,  // the transaction ends at this edge
    input logic wide,  // 64 bits wide
    input logic [31:2] addr,  // dword of the data phase
    input logic [63:0] data,  // AD as sampled
    input logic [7:0] be,  // bytes written, by bus lane
    output logic tw_valid,  // write beat
    input logic tw_ready,  // write beat accepted
    output pci_write_t tw,  // the beat
    output logic room,  // the next data phase can be accepted, too
    output logic pending,  // writes not yet accepted by the backend
    output logic needed,  // 1 = the coming edge changes state, other than in a data phase
    output logic busy  // 1 = writes wait
);
  logic [$bits(pci_write_t)-1:0] mem[4];
  logic [1:0] in_q, out_q;
  logic [ 2:0] count_q;
  logic [28:0] p_addr_q;  // lower dword waiting for its upper half
  logic [31:0] p_data_q;
  logic [ 3:0] p_be_q;
  logic [ 2:0] p_full_q;  // 0 or 1, as wide as the count

  logic hold, push, pop;
  logic [31:0] low_data;
  logic [3:0] low_be;
  pci_write_t entry;
  assign hold = xfer & ~wide & ~addr[2] & ~fin;
  assign low_data = (p_full_q[0]) ? p_data_q : 32'd0;
  assign low_be = (p_full_q[0]) ? p_be_q : 4'd0;
  always_comb begin
    if (xfer && wide) entry = {addr[31:3], 3'd0, data, be};
    else if (xfer && addr[2]) entry = {addr[31:3], 3'd0, data[31:0], low_data, be[3:0], low_be};
    else if (xfer) entry = {addr[31:3], 3'd0, 32'd0, data[31:0], 4'd0, be[3:0]};
    else entry = {p_addr_q, 3'd0, 32'd0, p_data_q, 4'd0, p_be_q};
  end
  assign push = ((xfer & ~hold) | (fin & p_full_q[0])) & (entry.be != 8'd0);
  assign pop = tw_valid & tw_ready;

  assign tw_valid = count_q != 3'd0;
  assign tw = tw_valid ? mem[out_q] : '0;
  assign room = count_q + p_full_q <= 3'd2;
  assign pending = tw_valid | p_full_q[0] | xfer;
  assign needed = pop;
  assign busy = tw_valid | p_full_q[0];

  always_ff @(posedge clk) begin
    if (push) mem[in_q] <= entry;
    if (rst) begin
      in_q <= '0;
      out_q <= '0;
      count_q <= '0;
      {p_addr_q, p_data_q, p_be_q, p_full_q} <= '0;
    end else begin
      if (push) in_q <= in_q + 2'd1;
      if (pop) out_q <= out_q + 2'd1;
      count_q <= count_q + {2'b0, push} - {2'b0, pop};
      if (hold) begin
        p_full_q <= 3'd1;
        p_addr_q <= addr[31:3];
        p_data_q <= data[31:0];
        p_be_q   <= be[3:0];
      end else if (xfer || fin) p_full_q <= 3'd0;
    end
  end
endmodule
