// Frame buffer of a node with its run-time settings and its memory in C, read data one clock later.
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
    input  logic            clk,
    input  logic            rst,
    input  logic            off,     // the card has no supply
    input  logic     [47:0] cycle,
    output logic            busy,
    input  pci_in_t         pci_in,
    output pci_out_t        pci_out
);
  pci_card_settings_t shared_q, cfg;
  always_ff @(posedge clk) if (rst) shared_q <= pci_card_settings(BASE);
  always_comb begin
    cfg = shared_q;  // with the NIC, but for these
    cfg.base = 32'hE000_0000 + 32'(SLOT) * 32'h0100_0000;
    cfg.m66 = 1'b1;
  end

  pci_target_trace_t trace;
  logic mem_valid, mem_write, begun, ended, card_busy;
  assign begun = trace.first;
  assign ended = trace.last;
  logic unused_trace;
  assign unused_trace = ^trace;
  logic [23:0] mem_addr;
  logic [63:0] mem_wdata, mem_rdata_q;
  logic [7:0] mem_be;
  myri_frame_buffer card (
      .clk,
      .rst(rst || off),
      .cycle,
      .pci_in,
      .pci_out,
      .cfg,
      .mem_valid,
      .mem_write,
      .mem_addr,
      .mem_wdata,
      .mem_be,
      .mem_rdata(mem_rdata_q),
      .busy(card_busy),
      .trace
  );
  int at, enables;
  always_ff @(posedge clk) begin
    at = {8'd0, mem_addr};
    enables = {24'd0, mem_be};
    if (mem_valid && mem_write) begin
      `SAN(san_mem_write) (MEMORY, at, mem_wdata, enables);
    end
    if (mem_valid && !mem_write) mem_rdata_q <= `SAN(san_mem_read) (MEMORY, at);
  end

  // ---------------------------------------------------------------- trace
  logic over_q, some_q;  // a trace record is due; this transaction has made an access
  logic [31:0] first_q, written_q;
  assign busy = (card_busy && !off) || over_q;
  always_ff @(posedge clk) begin
    if (rst || (over_q && !mem_valid)) begin
      over_q <= 1'b0;
      some_q <= 1'b0;
      written_q <= '0;
    end else begin
      over_q <= over_q || ended;
      if (mem_valid) begin
        some_q <= 1'b1;
        if (!some_q) first_q <= {8'd0, mem_addr};
        if (mem_write) written_q <= written_q + 32'($countones(mem_be));
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
      .strobe(over_q && !mem_valid),
      .packet(32'd0),
      .argument(first_q),
      .argument2({32'd0, written_q}),
      .ago(32'd0)
  );
endmodule
