// The trace points of a NIC: packets, DMA, programmed I/O and doorbells, each as its hardware strobes it.
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
    output logic busy  // link clock: a record is due at the next edge
);
  logic [2:0] level_busy;
  assign busy = level_busy != 3'd0;
  // A run of stores to consecutive words leaves one record, at its first.
  logic [23:0] pio_next_q;
  logic pio_run_start;
  logic [63:0] dma_bytes;
  always_ff @(posedge nic_gated_clk[ENGINE_PIO]) begin
    if (rst) pio_next_q <= '1;
    else if (pio_trace.pio_write) pio_next_q <= {pio_trace.pio_addr[23:3], 3'd0} + 24'd8;
  end
  assign pio_run_start = pio_trace.pio_write && {pio_trace.pio_addr[23:3], 3'd0} != pio_next_q;
  assign dma_bytes = dma_trace.dma_e2l ? {32'd0, dma_trace.dma_bytes} : -{32'd0, dma_trace.dma_bytes};

  sim_probe #(
      .UNIT (BASE + PART_NET_SEND),
      .EVENT(EV_TX_START),
      .CLOCK(CLOCK_NIC)
  ) probe_tr_tx_start (
      .clk(nic_gated_clk[ENGINE_SEND]),
      .rst,
      .strobe(send_trace.tx_start),
      .packet(send_trace.tx_start_key),
      .argument(32'd0),
      .argument2(64'd0),
      .ago(send_trace.tx_start_ago)
  );
  sim_probe #(
      .UNIT (BASE + PART_NET_SEND),
      .EVENT(EV_TX_TAIL),
      .CLOCK(CLOCK_NIC)
  ) probe_tr_tx_read (
      .clk(nic_gated_clk[ENGINE_SEND]),
      .rst,
      .strobe(send_trace.tx_read),
      .packet(send_trace.tx_read_key),
      .argument(send_trace.tx_read_bytes),
      .argument2(64'd0),
      .ago(32'd0)
  );
  sim_probe #(
      .UNIT (BASE + PART_NET_RECV),
      .EVENT(EV_RX_HEAD),
      .CLOCK(CLOCK_NIC)
  ) probe_tr_rx_first (
      .clk(nic_gated_clk[ENGINE_RECV]),
      .rst,
      .strobe(recv_trace.rx_first),
      .packet(recv_trace.rx_first_key),
      .argument(32'd0),
      .argument2(64'd0),
      .ago(32'd0)
  );
  sim_probe #(
      .UNIT (BASE + PART_NET_RECV),
      .EVENT(EV_RX_TAIL),
      .CLOCK(CLOCK_NIC)
  ) probe_tr_rx_done (
      .clk(nic_gated_clk[ENGINE_RECV]),
      .rst,
      .strobe(recv_trace.rx_done),
      .packet(recv_trace.rx_done_key),
      .argument(recv_trace.rx_done_bytes),
      .argument2({56'd0, recv_trace.rx_done_syndrome}),
      .ago(32'd0)
  );
  sim_probe #(
      .UNIT (BASE + PART_HOST_DMA),
      .EVENT(EV_DMA_START),
      .CLOCK(CLOCK_NIC)
  ) probe_tr_dma_start (
      .clk(nic_gated_clk[ENGINE_DMA]),
      .rst,
      .strobe(dma_trace.dma_start),
      .packet({9'd0, dma_trace.dma_lar}),
      .argument({30'd0, dma_trace.dma_chain}),
      .argument2(dma_bytes),
      .ago(32'd0)
  );
  sim_probe #(
      .UNIT (BASE + PART_HOST_DMA),
      .EVENT(EV_DMA_DONE),
      .CLOCK(CLOCK_NIC)
  ) probe_tr_dma_done (
      .clk(nic_gated_clk[ENGINE_DMA]),
      .rst,
      .strobe(dma_trace.dma_done),
      .packet({9'd0, dma_trace.dma_lar}),
      .argument({30'd0, dma_trace.dma_chain}),
      .argument2(dma_bytes),
      .ago(32'd0)
  );
  sim_probe #(
      .UNIT (BASE + PART_BRIDGE),
      .EVENT(EV_PIO_ACCEPT),
      .CLOCK(CLOCK_NIC)
  ) probe_pio_run_start (
      .clk(nic_gated_clk[ENGINE_PIO]),
      .rst,
      .strobe(pio_run_start),
      .packet(32'd0),
      .argument({8'd0, pio_trace.pio_addr}),
      .argument2(64'd0),
      .ago(32'd0)
  );
  sim_probe #(
      .UNIT (BASE + PART_DOORBELL),
      .EVENT(EV_DOORBELL),
      .CLOCK(CLOCK_NIC)
  ) probe_tr_doorbell (
      .clk(nic_gated_clk[ENGINE_PIO]),
      .rst,
      .strobe(pio_trace.doorbell),
      .packet(32'd0),
      .argument(pio_trace.doorbell_addr),
      .argument2({32'd0, pio_trace.doorbell_data}),
      .ago(32'd0)
  );
  sim_probe #(
      .UNIT (BASE + PART_LINK),
      .EVENT(EV_TX_HEAD),
      .CLOCK(CLOCK_LINK)
  ) probe_tr_tx_head (
      .clk(link_clk),
      .rst,
      .strobe(link_trace.tx_head),
      .packet(link_trace.tx_key),
      .argument(32'd0),
      .argument2(64'd0),
      .ago(link_trace.tx_ago)
  );
  sim_probe #(
      .UNIT (BASE + PART_LINK),
      .EVENT(EV_TX_TAIL),
      .CLOCK(CLOCK_LINK)
  ) probe_tr_tx_tail (
      .clk(link_clk),
      .rst,
      .strobe(link_trace.tx_tail),
      .packet(link_trace.tx_key),
      .argument(32'd0),
      .argument2(64'd0),
      .ago(32'd0)
  );
  sim_probe #(
      .UNIT (BASE + PART_LINK),
      .EVENT(EV_RX_HEAD),
      .CLOCK(CLOCK_LINK)
  ) probe_tr_rx_head (
      .clk(link_clk),
      .rst,
      .strobe(link_trace.rx_head),
      .packet(link_trace.rx_key),
      .argument(32'd0),
      .argument2(64'd0),
      .ago(link_trace.rx_ago)
  );
  sim_probe #(
      .UNIT (BASE + PART_LINK),
      .EVENT(EV_RX_TAIL),
      .CLOCK(CLOCK_LINK)
  ) probe_tr_rx_tail (
      .clk(link_clk),
      .rst,
      .strobe(link_trace.rx_tail),
      .packet(link_trace.rx_key),
      .argument(link_trace.rx_bytes),
      .argument2({56'd0, link_trace.rx_syndrome}),
      .ago(32'd0)
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
