// Invariants of a NIC (codes: tb/lab/invariants.py).
module sim_nic_invariants
  import myri_nic_engines_pkg::*;
  import myri_nic_trace_pkg::*;
  import sim_trace_pkg::*;
#(
    parameter int BASE = 0  // first unit number of the node
) (
    input logic rst,
    input logic [ENGINES-1:0] nic_gated_clk,  // NIC clock of each engine
    input logic link_clk,
    input link_trace_t link_trace,  // link_clk: of the link
    input nic_status_t status  // clk: error indications
);
  sim_invariant #(
      .UNIT(BASE + PART_LINK),
      .CODE(64)
  ) invariant_st_rx_overrun (
      .clk(link_clk),
      .rst,
      .strobe(link_trace.rx_overrun),
      .packet(link_trace.rx_key)
  );
  sim_invariant #(
      .UNIT(BASE + PART_LINK),
      .CODE(65)
  ) invariant_st_crc_bad (
      .clk(link_clk),
      .rst,
      .strobe(link_trace.crc_bad),
      .packet(link_trace.rx_key)
  );
  sim_invariant #(
      .UNIT(BASE + PART_NET_RECV),
      .CODE(66)
  ) invariant_st_rx_lost (
      .clk(nic_gated_clk[ENGINE_RECV]),
      .rst,
      .strobe(status.rx_lost),
      .packet(32'd0)
  );
  sim_invariant #(
      .UNIT(BASE + PART_HOST_DMA),
      .CODE(67)
  ) invariant_st_dma_error (
      .clk(nic_gated_clk[ENGINE_DMA]),
      .rst,
      .strobe(status.dma_error),
      .packet(32'd0)
  );
  sim_invariant #(
      .UNIT(BASE + PART_DOORBELL),
      .CODE(68)
  ) invariant_st_doorbell_overflow (
      .clk(nic_gated_clk[ENGINE_PIO]),
      .rst,
      .strobe(status.doorbell_overflow),
      .packet(32'd0)
  );
  sim_invariant #(
      .UNIT(BASE + PART_NET_SEND),
      .CODE(69)
  ) invariant_st_send_misuse (
      .clk(nic_gated_clk[ENGINE_SEND]),
      .rst,
      .strobe(status.send_misuse),
      .packet(32'd0)
  );
  sim_invariant #(
      .UNIT(BASE + PART_BRIDGE),
      .CODE(73)
  ) invariant_st_pio_misuse (
      .clk(nic_gated_clk[ENGINE_PIO]),
      .rst,
      .strobe(status.pio_misuse),
      .packet(32'd0)
  );
  sim_invariant #(
      .UNIT(BASE + PART_LINK),
      .CODE(71)
  ) invariant_st_forward_reset (
      .clk(link_clk),
      .rst,
      .strobe(link_trace.forward_reset),
      .packet(link_trace.tx_key)
  );
  sim_invariant #(
      .UNIT(BASE + PART_LINK),
      .CODE(72)
  ) invariant_st_illegal (
      .clk(link_clk),
      .rst,
      .strobe(link_trace.illegal),
      .packet(32'd0)
  );
  logic was_down_q;
  always_ff @(posedge link_clk) was_down_q <= !rst && link_trace.link_down;
  sim_invariant #(
      .UNIT(BASE + PART_LINK),
      .CODE(81)
  ) invariant_st_link_down (
      .clk(link_clk),
      .rst,
      .strobe(link_trace.link_down && !was_down_q),
      .packet(32'd0)
  );
endmodule
