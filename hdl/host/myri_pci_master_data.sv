// Data side of the PCI master: buffers of four write beats towards the bus and four read beats towards the backend.
//
// A write beat accepted in one clock can be on the bus in the next. A read beat is offered one clock after its data
// phase.
module myri_pci_master_data (
    input  logic        clk,        // PCI clock
    input  logic        rst,        // synchronous, active high
    input  logic        write,      // active command writes to the bus
    input  logic        wide,       // this data phase is 64 bits wide
    input  logic        half,       // 32 bits wide: upper dword
    input  logic        xfer,       // this data phase moves data
    input  logic        group_end,  // ... and is the last one of its lane group
    input  logic        flush,      // drop a write beat, or give a read beat of ones
    input  logic [63:0] bus_ad,     // AD as sampled
    input  logic        mw_valid,   // write beat
    output logic        mw_ready,   // write beat accepted
    input  logic [63:0] mw_data,    // write beat in PCI lanes
    output logic        mr_valid,   // read beat
    input  logic        mr_ready,   // read beat accepted
    output logic [63:0] mr_data,    // read beat in PCI lanes
    output logic [ 2:0] have,       // write: beats available; read: free places
    output logic [63:0] head,       // write beat for the bus
    output logic        needed      // a beat of the backend moves at the coming edge
);
  logic [63:0] wmem[4];
  logic [63:0] rmem[4];
  logic [1:0] w_in_q, w_out_q, r_in_q, r_out_q;
  logic [2:0] w_count_q, r_count_q;
  logic [31:0] low_q;  // lower dword of a group that comes as two dwords
  logic w_push, w_pop, r_push, r_pop;
  logic [63:0] r_group;

  assign mw_ready = ~w_count_q[2];
  assign w_push = mw_valid & mw_ready;
  assign w_pop = write & ((xfer & group_end) | flush);
  assign head = (w_count_q == 3'd0) ? 64'd0 : wmem[w_out_q];

  assign mr_valid = r_count_q != 3'd0;
  assign mr_data = mr_valid ? rmem[r_out_q] : 64'd0;
  assign r_push = ~write & ((xfer & group_end) | flush);
  assign r_pop = mr_valid & mr_ready;
  always_comb begin
    if (flush) r_group = '1;
    else if (wide) r_group = bus_ad;
    else if (half) r_group = {bus_ad[31:0], low_q};
    else r_group = {32'd0, bus_ad[31:0]};
  end

  assign have   = write ? w_count_q : 3'd4 - r_count_q;
  assign needed = r_pop | w_push;

  always_ff @(posedge clk) begin
    if (w_push) wmem[w_in_q] <= mw_data;
    if (r_push) rmem[r_in_q] <= r_group;
    if (rst) begin
      {w_in_q, w_out_q, r_in_q, r_out_q} <= '0;
      w_count_q <= '0;
      r_count_q <= '0;
      low_q <= '0;
    end else begin
      if (w_push) w_in_q <= w_in_q + 2'd1;
      if (w_pop) w_out_q <= w_out_q + 2'd1;
      w_count_q <= w_count_q + {2'b0, w_push} - {2'b0, w_pop};
      if (r_push) r_in_q <= r_in_q + 2'd1;
      if (r_pop) r_out_q <= r_out_q + 2'd1;
      r_count_q <= r_count_q + {2'b0, r_push} - {2'b0, r_pop};
      if (xfer && !wide && !half) low_q <= bus_ad[31:0];
    end
  end
endmodule
