// Trace of one clock on a board: collector of its sources, and the crossing of the records to the bus clock.
//
// Timing: a record reaches the bus clock after the latency of the crossing.
module myri_board_traced
  import myri_board_pkg::*;
#(
    parameter int SOURCES = 8,  // number of sources
    parameter logic [1:0] CLOCK = CLOCK_NIC  // number of the sources' clock in records
) (
    input logic src_clk,  // clock of the sources
    input logic src_rst,  // synchronous reset
    input logic [47:0] cycle,  // index of its coming edge
    input logic [SOURCES-1:0] strobe,  // an event of each source
    input logic [EVENT_BITS*SOURCES-1:0] events,  // board_event_t of each source, source 0 lowest
    input logic bus_clk,  // bus clock
    input logic bus_rst,  // synchronous reset of the crossing's bus side
    output logic record_valid,  // a record is offered in the bus clock
    input logic record_ready,  // taken at the coming edge
    output board_record_t record  // the record
);
  logic valid, ready;
  board_record_t collected;

  myri_board_collect #(
      .SOURCES(SOURCES),
      .CLOCK  (CLOCK)
  ) u_collect (
      .clk(src_clk),
      .rst(src_rst),
      .cycle(cycle),
      .strobe(strobe),
      .events(events),
      .out_valid(valid),
      .out_ready(ready),
      .out_record(collected)
  );
  myri_cdc_fifo #(
      .WIDTH(RECORD_BITS),
      .DEPTH_LOG2(3)
  ) u_cross (
      .cfg_latency(4'd1),
      .w_clk(src_clk),
      .w_rst(src_rst),
      .w_valid(valid),
      .w_ready(ready),
      .w_data(collected),
      .w_busy(),
      .r_clk(bus_clk),
      .r_rst(bus_rst),
      .r_valid(record_valid),
      .r_ready(record_ready),
      .r_data(record),
      .r_busy()
  );
endmodule
