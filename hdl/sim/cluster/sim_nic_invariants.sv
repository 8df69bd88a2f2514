// What must never happen at a NIC (codes: tb/lab/invariants.py).
module sim_nic_invariants
  import sim_trace_pkg::*;
#(
    parameter int BASE = 0  // first unit number of the node
) (
    input logic rst,
    input logic send_clk,  // NIC clock of each engine
    input logic recv_clk,
    input logic dma_clk,
    input logic pio_clk,
    input logic link_clk,
    input logic [31:0] tr_tx_key,
    input logic [31:0] tr_rx_key,
    input logic st_rx_overrun,
    input logic st_crc_bad,
    input logic st_illegal,
    input logic st_forward_reset,
    input logic st_link_down,
    input logic st_dma_error,
    input logic st_doorbell_overflow,
    input logic st_rx_lost,
    input logic st_send_misuse,
    input logic st_pio_misuse
);
  sim_invariant #(
      .UNIT(BASE + PART_LINK),
      .CODE(64)
  ) invariant_st_rx_overrun (
      .clk(link_clk),
      .rst,
      .strobe(st_rx_overrun),
      .packet(tr_rx_key)
  );
  sim_invariant #(
      .UNIT(BASE + PART_LINK),
      .CODE(65)
  ) invariant_st_crc_bad (
      .clk(link_clk),
      .rst,
      .strobe(st_crc_bad),
      .packet(tr_rx_key)
  );
  sim_invariant #(
      .UNIT(BASE + PART_NET_RECV),
      .CODE(66)
  ) invariant_st_rx_lost (
      .clk(recv_clk),
      .rst,
      .strobe(st_rx_lost),
      .packet(32'd0)
  );
  sim_invariant #(
      .UNIT(BASE + PART_HOST_DMA),
      .CODE(67)
  ) invariant_st_dma_error (
      .clk(dma_clk),
      .rst,
      .strobe(st_dma_error),
      .packet(32'd0)
  );
  sim_invariant #(
      .UNIT(BASE + PART_DOORBELL),
      .CODE(68)
  ) invariant_st_doorbell_overflow (
      .clk(pio_clk),
      .rst,
      .strobe(st_doorbell_overflow),
      .packet(32'd0)
  );
  sim_invariant #(
      .UNIT(BASE + PART_NET_SEND),
      .CODE(69)
  ) invariant_st_send_misuse (
      .clk(send_clk),
      .rst,
      .strobe(st_send_misuse),
      .packet(32'd0)
  );
  sim_invariant #(
      .UNIT(BASE + PART_BRIDGE),
      .CODE(73)
  ) invariant_st_pio_misuse (
      .clk(pio_clk),
      .rst,
      .strobe(st_pio_misuse),
      .packet(32'd0)
  );
  sim_invariant #(
      .UNIT(BASE + PART_LINK),
      .CODE(71)
  ) invariant_st_forward_reset (
      .clk(link_clk),
      .rst,
      .strobe(st_forward_reset),
      .packet(tr_tx_key)
  );
  sim_invariant #(
      .UNIT(BASE + PART_LINK),
      .CODE(72)
  ) invariant_st_illegal (
      .clk(link_clk),
      .rst,
      .strobe(st_illegal),
      .packet(32'd0)
  );
  logic was_down;
  always_ff @(posedge link_clk) was_down <= !rst && st_link_down;
  sim_invariant #(
      .UNIT(BASE + PART_LINK),
      .CODE(81)
  ) invariant_st_link_down (
      .clk(link_clk),
      .rst,
      .strobe(st_link_down && !was_down),
      .packet(32'd0)
  );
endmodule
