// The trace points of a NIC: packets, DMA, programmed I/O and doorbells, each as its hardware strobes it.
module sim_nic_trace
  import sim_trace_pkg::*;
#(
    parameter int BASE       = 0,  // first unit number of the node
    parameter int CLOCK_NIC  = 0,  // index of the NIC clock
    parameter int CLOCK_LINK = 0   // index of the link clock
) (
    input logic rst,
    input logic send_clk,  // NIC clock of each engine
    input logic recv_clk,
    input logic dma_clk,
    input logic pio_clk,
    input logic link_clk,
    input logic tr_tx_start,
    input logic tr_tx_read,
    input logic tr_rx_first,
    input logic tr_rx_done,
    input logic tr_dma_start,
    input logic tr_dma_done,
    input logic tr_dma_e2l,
    input logic tr_pio_write,
    input logic tr_doorbell,
    input logic [31:0] tr_tx_start_key,
    input logic [31:0] tr_tx_start_ago,
    input logic [31:0] tr_tx_read_key,
    input logic [31:0] tr_tx_read_bytes,
    input logic [31:0] tr_rx_first_key,
    input logic [31:0] tr_rx_done_key,
    input logic [31:0] tr_rx_done_bytes,
    input logic [7:0] tr_rx_done_syndrome,
    input logic [1:0] tr_dma_chain,
    input logic [31:0] tr_dma_bytes,
    input logic [31:0] tr_doorbell_addr,
    input logic [31:0] tr_doorbell_data,
    input logic [22:0] tr_dma_lar,
    input logic [23:0] tr_pio_addr,
    input logic tr_tx_head,
    input logic tr_tx_tail,
    input logic tr_rx_head,
    input logic tr_rx_tail,
    input logic [31:0] tr_tx_key,
    input logic [31:0] tr_tx_ago,
    input logic [31:0] tr_rx_key,
    input logic [31:0] tr_rx_ago,
    input logic [31:0] tr_rx_bytes,
    input logic [7:0] tr_rx_syndrome,
    input logic st_link_stopped,
    input logic st_beat_missed,
    input logic st_link_down,
    output logic trace_busy  // link clock: a record is due at the next edge
);
  logic [2:0] level_busy;
  assign trace_busy = level_busy != 3'd0;
  // A run of stores to consecutive words leaves one record, at its first.
  logic [23:0] pio_next;
  logic pio_run_start;
  logic [63:0] dma_bytes;
  always_ff @(posedge pio_clk) begin
    if (rst) pio_next <= '1;
    else if (tr_pio_write) pio_next <= {tr_pio_addr[23:3], 3'd0} + 24'd8;
  end
  assign pio_run_start = tr_pio_write && {tr_pio_addr[23:3], 3'd0} != pio_next;
  assign dma_bytes = tr_dma_e2l ? {32'd0, tr_dma_bytes} : -{32'd0, tr_dma_bytes};

  sim_probe #(
      .UNIT (BASE + PART_NET_SEND),
      .EVENT(EV_TX_START),
      .CLOCK(CLOCK_NIC)
  ) probe_tr_tx_start (
      .clk(send_clk),
      .rst,
      .strobe(tr_tx_start),
      .packet(tr_tx_start_key),
      .argument(32'd0),
      .argument2(64'd0),
      .ago(tr_tx_start_ago)
  );
  sim_probe #(
      .UNIT (BASE + PART_NET_SEND),
      .EVENT(EV_TX_TAIL),
      .CLOCK(CLOCK_NIC)
  ) probe_tr_tx_read (
      .clk(send_clk),
      .rst,
      .strobe(tr_tx_read),
      .packet(tr_tx_read_key),
      .argument(tr_tx_read_bytes),
      .argument2(64'd0),
      .ago(32'd0)
  );
  sim_probe #(
      .UNIT (BASE + PART_NET_RECV),
      .EVENT(EV_RX_HEAD),
      .CLOCK(CLOCK_NIC)
  ) probe_tr_rx_first (
      .clk(recv_clk),
      .rst,
      .strobe(tr_rx_first),
      .packet(tr_rx_first_key),
      .argument(32'd0),
      .argument2(64'd0),
      .ago(32'd0)
  );
  sim_probe #(
      .UNIT (BASE + PART_NET_RECV),
      .EVENT(EV_RX_TAIL),
      .CLOCK(CLOCK_NIC)
  ) probe_tr_rx_done (
      .clk(recv_clk),
      .rst,
      .strobe(tr_rx_done),
      .packet(tr_rx_done_key),
      .argument(tr_rx_done_bytes),
      .argument2({56'd0, tr_rx_done_syndrome}),
      .ago(32'd0)
  );
  sim_probe #(
      .UNIT (BASE + PART_HOST_DMA),
      .EVENT(EV_DMA_START),
      .CLOCK(CLOCK_NIC)
  ) probe_tr_dma_start (
      .clk(dma_clk),
      .rst,
      .strobe(tr_dma_start),
      .packet({9'd0, tr_dma_lar}),
      .argument({30'd0, tr_dma_chain}),
      .argument2(dma_bytes),
      .ago(32'd0)
  );
  sim_probe #(
      .UNIT (BASE + PART_HOST_DMA),
      .EVENT(EV_DMA_DONE),
      .CLOCK(CLOCK_NIC)
  ) probe_tr_dma_done (
      .clk(dma_clk),
      .rst,
      .strobe(tr_dma_done),
      .packet({9'd0, tr_dma_lar}),
      .argument({30'd0, tr_dma_chain}),
      .argument2(dma_bytes),
      .ago(32'd0)
  );
  sim_probe #(
      .UNIT (BASE + PART_BRIDGE),
      .EVENT(EV_PIO_ACCEPT),
      .CLOCK(CLOCK_NIC)
  ) probe_pio_run_start (
      .clk(pio_clk),
      .rst,
      .strobe(pio_run_start),
      .packet(32'd0),
      .argument({8'd0, tr_pio_addr}),
      .argument2(64'd0),
      .ago(32'd0)
  );
  sim_probe #(
      .UNIT (BASE + PART_DOORBELL),
      .EVENT(EV_DOORBELL),
      .CLOCK(CLOCK_NIC)
  ) probe_tr_doorbell (
      .clk(pio_clk),
      .rst,
      .strobe(tr_doorbell),
      .packet(32'd0),
      .argument(tr_doorbell_addr),
      .argument2({32'd0, tr_doorbell_data}),
      .ago(32'd0)
  );
  sim_probe #(
      .UNIT (BASE + PART_LINK),
      .EVENT(EV_TX_HEAD),
      .CLOCK(CLOCK_LINK)
  ) probe_tr_tx_head (
      .clk(link_clk),
      .rst,
      .strobe(tr_tx_head),
      .packet(tr_tx_key),
      .argument(32'd0),
      .argument2(64'd0),
      .ago(tr_tx_ago)
  );
  sim_probe #(
      .UNIT (BASE + PART_LINK),
      .EVENT(EV_TX_TAIL),
      .CLOCK(CLOCK_LINK)
  ) probe_tr_tx_tail (
      .clk(link_clk),
      .rst,
      .strobe(tr_tx_tail),
      .packet(tr_tx_key),
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
      .strobe(tr_rx_head),
      .packet(tr_rx_key),
      .argument(32'd0),
      .argument2(64'd0),
      .ago(tr_rx_ago)
  );
  sim_probe #(
      .UNIT (BASE + PART_LINK),
      .EVENT(EV_RX_TAIL),
      .CLOCK(CLOCK_LINK)
  ) probe_tr_rx_tail (
      .clk(link_clk),
      .rst,
      .strobe(tr_rx_tail),
      .packet(tr_rx_key),
      .argument(tr_rx_bytes),
      .argument2({56'd0, tr_rx_syndrome}),
      .ago(32'd0)
  );
  sim_level #(
      .UNIT(BASE + PART_LINK),
      .RISE(EV_STALL_START),
      .FALL(EV_STALL_END)
  ) stopped (
      .clk(link_clk),
      .rst,
      .level(st_link_stopped),
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
      .level(st_beat_missed),
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
      .level(st_link_down),
      .packet(32'd0),
      .argument(32'd0),
      .busy(level_busy[2])
  );
endmodule
