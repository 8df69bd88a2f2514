// Trace points of a NIC, with derived signals: runs of stores, the direction of DMA, and levels that change.
module sim_nic_trace
  import myri_nic_engines_pkg::*;
  import myri_nic_trace_pkg::*;
  import sim_trace_pkg::*;
#(
    parameter int BASE       = 0,  // first unit number of the node
    parameter int CLOCK_NIC  = 0,  // index of the NIC clock
    parameter int CLOCK_LINK = 0   // index of the link clock
) (
    input logic rst,
    input logic [ENGINES-1:0] nic_gated_clk,  // NIC clock of each engine
    input logic link_clk,
    input send_trace_t send_trace,  // clk: of the send engine
    input recv_trace_t recv_trace,  // clk: of the receive engine
    input dma_trace_t dma_trace,  // clk: of the DMA engine
    input pio_trace_t pio_trace,  // clk: of PIO and doorbells
    input link_trace_t link_trace,  // link_clk: of the link
    output logic busy  // link clock: a trace record is due at the next edge
);
  logic [2:0] level_busy;
  assign busy = level_busy != 3'd0;
  // A run of stores to consecutive words produces one record, at its first.
  logic [23:0] pio_next_q;
  logic pio_run_start;
  logic [23:0] pio_word;
  logic [63:0] dma_moved;
  always_ff @(posedge nic_gated_clk[ENGINE_PIO]) begin
    if (rst) pio_next_q <= '1;
    else if (pio_trace.pio_write) pio_next_q <= pio_word + 24'd8;
  end
  assign pio_word = {pio_trace.pio_addr[23:3], 3'd0};
  assign pio_run_start = pio_trace.pio_write && pio_word != pio_next_q;
  assign dma_moved = dma_trace.dma_e2l ? {32'd0, dma_trace.dma_bytes} : -{32'd0, dma_trace.dma_bytes};

  sim_nic_points #(
      .BASE(BASE),
      .CLOCK_NIC(CLOCK_NIC),
      .CLOCK_LINK(CLOCK_LINK)
  ) points (
      .rst,
      .nic_gated_clk,
      .link_clk,
      .send_trace,
      .recv_trace,
      .dma_trace,
      .pio_trace,
      .link_trace,
      .pio_run_start,
      .pio_word,
      .dma_moved
  );
  sim_level #(
      .UNIT(BASE + PART_LINK),
      .RISE(EV_STALL_START),
      .FALL(EV_STALL_END)
  ) stopped (
      .clk(link_clk),
      .rst,
      .level(link_trace.link_stopped),
      .packet(32'd0),
      .argument(32'd0),
      .busy(level_busy[0])
  );
  sim_level #(
      .UNIT(BASE + PART_LINK),
      .RISE(EV_BEAT_MISSED),
      .FALL(EV_BEAT_BACK)
  ) missed (
      .clk(link_clk),
      .rst,
      .level(link_trace.beat_missed),
      .packet(32'd0),
      .argument(32'd0),
      .busy(level_busy[1])
  );
  sim_level #(
      .UNIT(BASE + PART_LINK),
      .RISE(EV_LINK_DOWN),
      .FALL(EV_LINK_UP)
  ) down (
      .clk(link_clk),
      .rst,
      .level(link_trace.link_down),
      .packet(32'd0),
      .argument(32'd0),
      .busy(level_busy[2])
  );
endmodule
