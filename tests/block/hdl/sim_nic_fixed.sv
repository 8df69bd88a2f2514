// The settings of a NIC that no test of the NIC benches changes; names as myri_nic's. BEAT is off: its benches are those of
// the link, and clusters have it.
module sim_nic_fixed (
    output logic [15:0] cfg_rtc_num,
    output logic [15:0] cfg_rtc_den,
    output logic [ 7:0] cfg_slack,
    output logic [ 7:0] cfg_stop_mark,
    output logic [ 7:0] cfg_go_mark,
    output logic [15:0] cfg_refresh,
    output logic [15:0] cfg_short_timeout,
    output logic [31:0] cfg_long_timeout,
    output logic [31:0] cfg_beat_period,
    output logic        cfg_nres_truncate,
    output logic [31:0] cfg_pci_base,
    output logic        cfg_pci_enabled,
    output logic        cfg_pci_m66,
    output logic [ 1:0] cfg_pci_devsel,
    output logic [ 3:0] cfg_pci_write_initial,
    output logic [ 3:0] cfg_pci_read_initial,
    output logic [ 2:0] cfg_pci_subsequent,
    output logic [ 3:0] cfg_pci_read_wait,
    output logic [ 2:0] cfg_pci_stall_limit,
    output logic [ 7:0] cfg_pci_max_phases,
    output logic [15:0] cfg_pci_discard,
    output logic [ 7:0] cfg_pci_latency_timer,
    output logic [15:0] cfg_pci_max_burst,
    output logic [ 7:0] cfg_pci_start_delay,
    output logic [ 2:0] cfg_pci_irdy_wait,
    output logic [ 6:0] cfg_pci_line_bytes,
    output logic        cfg_sram_above
);
  assign cfg_rtc_num = 16'd3;
  assign cfg_rtc_den = 16'd200;
  assign cfg_slack = 8'd80;
  assign cfg_stop_mark = 8'd56;
  assign cfg_go_mark = 8'd40;
  assign cfg_refresh = 16'd8;
  assign cfg_short_timeout = 16'd16;
  assign cfg_long_timeout = 32'd4000000;
  assign cfg_beat_period = 32'd0;
  assign cfg_nres_truncate = 1'b1;
  assign cfg_pci_base = 32'hE000_0000;
  assign cfg_pci_enabled = 1'b1;
  assign cfg_pci_m66 = 1'b1;
  assign cfg_pci_devsel = 2'd1;
  assign cfg_pci_write_initial = 4'd0;
  assign cfg_pci_read_initial = 4'd0;
  assign cfg_pci_subsequent = 3'd0;
  assign cfg_pci_read_wait = 4'd10;
  assign cfg_pci_stall_limit = 3'd4;
  assign cfg_pci_max_phases = 8'd0;
  assign cfg_pci_discard = 16'd0;
  assign cfg_pci_latency_timer = 8'd0;
  assign cfg_pci_max_burst = 16'd0;
  assign cfg_pci_start_delay = 8'd0;
  assign cfg_pci_irdy_wait = 3'd4;
  assign cfg_pci_line_bytes = 7'd32;
  assign cfg_sram_above = 1'b0;
endmodule
