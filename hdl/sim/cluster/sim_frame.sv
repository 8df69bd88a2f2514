// The frame buffer of a node with its run-time settings and its memory in C, read data in the clock after.
`include "doorway.svh"
module sim_frame
  import myri_pci_pkg::*;
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
  localparam int FIRST = SET_CARD_DEVSEL;
  localparam int COUNT = SET_CARD_DISCARD - FIRST + 1;
  logic [32*COUNT-1:0] values;
  logic [31:0] wide;
  sim_setting #(
      .UNIT (BASE),
      .KEY  (FIRST),
      .COUNT(COUNT)
  ) settings (
      .clk,
      .rst,
      .value(values)
  );
  sim_setting #(
      .UNIT (BASE),
      .KEY  (SET_PCI_WIDE),
      .COUNT(1)
  ) width (
      .clk,
      .rst,
      .value(wide)
  );

  logic mem_valid, mem_write, begun, ended, card_busy;
  logic [23:0] mem_addr;
  logic [63:0] mem_wdata, mem_rdata;
  logic [7:0] mem_be;
  myri_frame_buffer card (
      .clk,
      .rst,
      .cycle,
      .busy(card_busy),
      .pci_in,
      .pci_out,
      .cfg_base(32'hE000_0000 + 32'(SLOT) * 32'h0100_0000),
      .cfg_wide(wide[0]),
      .cfg_m66(1'b1),
      .cfg_devsel(values[32*(SET_CARD_DEVSEL-FIRST)+:2]),
      .cfg_write_initial(values[32*(SET_CARD_WRITE_INITIAL-FIRST)+:4]),
      .cfg_read_initial(values[32*(SET_CARD_READ_INITIAL-FIRST)+:4]),
      .cfg_subsequent(values[32*(SET_CARD_SUBSEQUENT-FIRST)+:3]),
      .cfg_read_wait(values[32*(SET_CARD_READ_WAIT-FIRST)+:4]),
      .cfg_stall_limit(values[32*(SET_CARD_STALL_LIMIT-FIRST)+:3]),
      .cfg_max_phases(values[32*(SET_CARD_MAX_PHASES-FIRST)+:8]),
      .cfg_discard(values[32*(SET_CARD_DISCARD-FIRST)+:16]),
      .mem_valid,
      .mem_write,
      .mem_addr,
      .mem_wdata,
      .mem_be,
      .mem_rdata,
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

  logic unused;
  assign unused = &{1'b0, values, wide};
endmodule
