// Settings of a NIC for the NIC benches, most of which no test changes. BEAT is off: it is tested in the link benches
// and in clusters.
module sim_nic_fixed
  import myri_settings_pkg::*;
(
    input logic [1:0] cfg_accesses,  // SRAM accesses a clock
    input logic [3:0] cfg_cdc_latency,  // latency of every crossing
    input logic [15:0] cfg_start_clocks,  // start-up of a DMA block
    input logic [31:0] cfg_nres_clocks,  // clocks of the network time-out, code 0
    input logic cfg_wide,  // 64-bit bus
    output nic_settings_t cfg  // all
);
  always_comb begin
    cfg.sram_accesses = cfg_accesses;
    cfg.cdc_latency = cfg_cdc_latency;
    cfg.dma_start_clocks = cfg_start_clocks;
    cfg.nres_clocks = cfg_nres_clocks;
    cfg.pci.wide = cfg_wide;
    cfg.rtc_numerator = 16'd3;
    cfg.rtc_denominator = 16'd200;
    cfg.link.slack = 8'd80;
    cfg.link.stop_mark = 8'd56;
    cfg.link.go_mark = 8'd40;
    cfg.link.refresh = 16'd8;
    cfg.link.short_timeout = 16'd16;
    cfg.link.long_timeout = 32'd4000000;
    cfg.link.beat_period = 32'd0;
    cfg.nres_truncate = 1'b1;
    cfg.pci.base = 32'hE000_0000;
    cfg.pci.enabled = 1'b1;
    cfg.pci.m66 = 1'b1;
    cfg.pci.target.devsel = 2'd1;
    cfg.pci.target.write_initial = 4'd0;
    cfg.pci.target.read_initial = 4'd0;
    cfg.pci.target.subsequent = 3'd0;
    cfg.pci.target.read_wait = 4'd10;
    cfg.pci.target.stall_limit = 3'd4;
    cfg.pci.target.max_phases = 8'd0;
    cfg.pci.target.discard = 16'd0;
    cfg.pci.master.latency_timer = 8'd0;
    cfg.pci.master.max_burst = 16'd0;
    cfg.pci.master.start_delay = 8'd0;
    cfg.pci.master.irdy_wait = 3'd4;
    cfg.pci.master.line_bytes = 7'd32;
    cfg.sram_above = 1'b0;
  end
endmodule
