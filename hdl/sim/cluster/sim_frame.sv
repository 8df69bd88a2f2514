// The frame buffer of a node with its run-time settings and its memory in C, read data in the clock after.
`include "doorway.svh"
module sim_frame
  import myri_pci_pkg::*;
  import myri_settings_pkg::*;
  import sim_settings_pkg::*;
  import sim_trace_pkg::*;
#(
    parameter int BASE   = 0,  // settings unit, and first trace unit, of the node
    parameter int SLOT   = 2,  // connector on the bus
    parameter int MEMORY = 0   // number of the memory
) (
    input  logic                    clk,
    input  logic                    rst,
    input  logic [            47:0] cycle,
    output logic                    busy,
    input  logic [ PCI_IN_BITS-1:0] pci_in,
    output logic [PCI_OUT_BITS-1:0] pci_out
);
  pci_card_settings_t shared, cfg;
  always_ff @(posedge clk) if (rst) shared <= pci_card_settings(BASE);
  always_comb begin
    cfg = shared;  // with the NIC, but for these
    cfg.base = 32'hE000_0000 + 32'(SLOT) * 32'h0100_0000;
    cfg.m66 = 1'b1;
  end

  logic mem_valid, mem_write, begun, ended, card_busy;
  logic [23:0] mem_addr;
  logic [63:0] mem_wdata, mem_rdata;
  logic [7:0] mem_be;
  myri_frame_buffer card (
      .*,
      .busy(card_busy),
      .tr_first(begun),
      .tr_last(ended)
  );
  int at, enables;
  always_ff @(posedge clk) begin
    at = {8'd0, mem_addr};
    enables = {24'd0, mem_be};
    if (mem_valid && mem_write) begin
      `SAN(san_mem_write) (MEMORY, at, mem_wdata, enables);
    end
    if (mem_valid && !mem_write) mem_rdata <= `SAN(san_mem_read) (MEMORY, at);
  end

  // ---------------------------------------------------------------- trace
  logic over, some;  // something is owed to the trace; this transaction has made an access
  logic [31:0] first, written;
  assign busy = card_busy || over;
  always_ff @(posedge clk) begin
    if (rst || (over && !mem_valid)) begin
      over <= 1'b0;
      some <= 1'b0;
      written <= '0;
    end else begin
      over <= over || ended;
      if (mem_valid) begin
        some <= 1'b1;
        if (!some) first <= {8'd0, mem_addr};
        if (mem_write) written <= written + 32'($countones(mem_be));
      end
    end
  end
  sim_probe #(
      .UNIT (BASE + PART_FRAME),
      .EVENT(EV_FRAME_START)
  ) start (
      .clk,
      .rst,
      .strobe(begun),
      .packet(32'd0),
      .argument(32'd0),
      .argument2(64'd0),
      .ago(32'd0)
  );
  sim_probe #(
      .UNIT (BASE + PART_FRAME),
      .EVENT(EV_FRAME_END)
  ) finish (
      .clk,
      .rst,
      .strobe(over && !mem_valid),
      .packet(32'd0),
      .argument(first),
      .argument2({32'd0, written}),
      .ago(32'd0)
  );
endmodule
