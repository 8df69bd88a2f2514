// The run-time settings of a NIC, out of the doorway's table: one vector a clock, each value at the width of its port.
module sim_nic_settings
  import sim_settings_pkg::*;
#(
    parameter int BASE = 0  // settings unit of the node
) (
    input logic rst,
    input logic setup_clk,  // a clock that runs while in reset
    output logic [31:0] cfg_pci_base,
    output logic cfg_pci_enabled,
    output logic [1:0] cfg_accesses,
    output logic [3:0] cfg_cdc_latency,
    output logic [15:0] cfg_start_clocks,
    output logic [15:0] cfg_rtc_num,
    output logic [15:0] cfg_rtc_den,
    output logic [31:0] cfg_nres_clocks,
    output logic cfg_nres_truncate,
    output logic [7:0] cfg_slack,
    output logic [7:0] cfg_stop_mark,
    output logic [7:0] cfg_go_mark,
    output logic [15:0] cfg_refresh,
    output logic [15:0] cfg_short_timeout,
    output logic [31:0] cfg_long_timeout,
    output logic [31:0] cfg_beat_period,
    output logic cfg_pci_wide,
    output logic cfg_pci_m66,
    output logic [7:0] cfg_pci_latency_timer,
    output logic [15:0] cfg_pci_max_burst,
    output logic [7:0] cfg_pci_start_delay,
    output logic [2:0] cfg_pci_irdy_wait,
    output logic [6:0] cfg_pci_line_bytes,
    output logic [1:0] cfg_pci_devsel,
    output logic [3:0] cfg_pci_write_initial,
    output logic [3:0] cfg_pci_read_initial,
    output logic [2:0] cfg_pci_subsequent,
    output logic [3:0] cfg_pci_read_wait,
    output logic [2:0] cfg_pci_stall_limit,
    output logic [7:0] cfg_pci_max_phases,
    output logic [15:0] cfg_pci_discard,
    output logic cfg_sram_above
);
  localparam int NIC_FIRST = SET_SRAM_ACCESSES;
  localparam int NIC_COUNT = SET_SRAM_ABOVE - NIC_FIRST + 1;
  localparam int LINK_FIRST = SET_SLACK;
  localparam int LINK_COUNT = SET_BEAT_PERIOD - LINK_FIRST + 1;
  localparam int PCI_FIRST = SET_PCI_WIDE;
  localparam int PCI_COUNT = SET_CARD_DISCARD - PCI_FIRST + 1;
  logic [ 32*NIC_COUNT-1:0] nic_set;
  logic [32*LINK_COUNT-1:0] link_set;
  logic [ 32*PCI_COUNT-1:0] pci_set;
  sim_setting #(
      .UNIT (BASE),
      .KEY  (NIC_FIRST),
      .COUNT(NIC_COUNT)
  ) nic_settings (
      .clk  (setup_clk),
      .rst,
      .value(nic_set)
  );
  sim_setting #(
      .UNIT (BASE),
      .KEY  (LINK_FIRST),
      .COUNT(LINK_COUNT)
  ) link_settings (
      .clk  (setup_clk),
      .rst,
      .value(link_set)
  );
  sim_setting #(
      .UNIT (BASE),
      .KEY  (PCI_FIRST),
      .COUNT(PCI_COUNT)
  ) pci_settings (
      .clk  (setup_clk),
      .rst,
      .value(pci_set)
  );
  assign cfg_pci_base = 32'hE000_0000;
  assign cfg_pci_enabled = 1'b1;
  assign cfg_accesses = nic_set[32*(SET_SRAM_ACCESSES-NIC_FIRST)+:2];
  assign cfg_cdc_latency = nic_set[32*(SET_CDC_LATENCY-NIC_FIRST)+:4];
  assign cfg_start_clocks = nic_set[32*(SET_DMA_START_CLOCKS-NIC_FIRST)+:16];
  assign cfg_rtc_num = nic_set[32*(SET_RTC_NUMERATOR-NIC_FIRST)+:16];
  assign cfg_rtc_den = nic_set[32*(SET_RTC_DENOMINATOR-NIC_FIRST)+:16];
  assign cfg_nres_clocks = nic_set[32*(SET_NRES_CLOCKS-NIC_FIRST)+:32];
  assign cfg_nres_truncate = nic_set[32*(SET_NRES_TRUNCATE-NIC_FIRST)];
  assign cfg_slack = link_set[32*(SET_SLACK-LINK_FIRST)+:8];
  assign cfg_stop_mark = link_set[32*(SET_STOP_MARK-LINK_FIRST)+:8];
  assign cfg_go_mark = link_set[32*(SET_GO_MARK-LINK_FIRST)+:8];
  assign cfg_refresh = link_set[32*(SET_REFRESH-LINK_FIRST)+:16];
  assign cfg_short_timeout = link_set[32*(SET_SHORT_TIMEOUT-LINK_FIRST)+:16];
  assign cfg_long_timeout = link_set[32*(SET_LONG_TIMEOUT-LINK_FIRST)+:32];
  assign cfg_beat_period = link_set[32*(SET_BEAT_PERIOD-LINK_FIRST)+:32];
  assign cfg_pci_wide = pci_set[32*(SET_PCI_WIDE-PCI_FIRST)];
  assign cfg_pci_m66 = pci_set[32*(SET_PCI_M66-PCI_FIRST)];
  assign cfg_pci_latency_timer = pci_set[32*(SET_CARD_LATENCY_TIMER-PCI_FIRST)+:8];
  assign cfg_pci_max_burst = pci_set[32*(SET_CARD_MAX_BURST-PCI_FIRST)+:16];
  assign cfg_pci_start_delay = pci_set[32*(SET_CARD_START_DELAY-PCI_FIRST)+:8];
  assign cfg_pci_irdy_wait = pci_set[32*(SET_CARD_IRDY_WAIT-PCI_FIRST)+:3];
  assign cfg_pci_line_bytes = pci_set[32*(SET_CARD_LINE_BYTES-PCI_FIRST)+:7];
  assign cfg_pci_devsel = pci_set[32*(SET_CARD_DEVSEL-PCI_FIRST)+:2];
  assign cfg_pci_write_initial = pci_set[32*(SET_CARD_WRITE_INITIAL-PCI_FIRST)+:4];
  assign cfg_pci_read_initial = pci_set[32*(SET_CARD_READ_INITIAL-PCI_FIRST)+:4];
  assign cfg_pci_subsequent = pci_set[32*(SET_CARD_SUBSEQUENT-PCI_FIRST)+:3];
  assign cfg_pci_read_wait = pci_set[32*(SET_CARD_READ_WAIT-PCI_FIRST)+:4];
  assign cfg_pci_stall_limit = pci_set[32*(SET_CARD_STALL_LIMIT-PCI_FIRST)+:3];
  assign cfg_pci_max_phases = pci_set[32*(SET_CARD_MAX_PHASES-PCI_FIRST)+:8];
  assign cfg_pci_discard = pci_set[32*(SET_CARD_DISCARD-PCI_FIRST)+:16];
  assign cfg_sram_above = nic_set[32*(SET_SRAM_ABOVE-NIC_FIRST)];
endmodule
