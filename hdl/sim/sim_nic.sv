// The NIC of a node with its run-time settings, trace points and invariants around it.
module sim_nic
  import myri_pci_pkg::*;
  import sim_settings_pkg::*;
  import sim_trace_pkg::*;
#(
    parameter int BASE       = 0,  // first unit number of the node, and its settings unit
    parameter int CLOCK_NIC  = 0,  // index of the NIC clock
    parameter int CLOCK_LINK = 0   // index of the link clock
) (
    input  logic                    rst,
    input  logic                    clk,
    input  logic [            47:0] cycle,
    output logic                    busy,
    output logic                    alarm_valid,
    output logic [            47:0] alarm_cycle,
    input  logic                    link_clk,
    input  logic [            47:0] link_cycle,
    output logic                    link_busy,
    output logic                    link_alarm_valid,
    output logic [            47:0] link_alarm_cycle,
    input  logic                    pci_clk,
    input  logic [            47:0] pci_cycle,
    output logic                    pci_busy,
    input  logic [             8:0] rx,
    input  logic                    rx_hold,
    output logic [             8:0] tx,
    output logic                    tx_hold,
    input  logic [ PCI_IN_BITS-1:0] pci_in,
    output logic [PCI_OUT_BITS-1:0] pci_out,
    output logic                    mem_a_valid,
    output logic                    mem_a_write,
    output logic [            22:0] mem_a_addr,
    output logic [            63:0] mem_a_wdata,
    output logic [             7:0] mem_a_be,
    input  logic [            63:0] mem_a_rdata,
    output logic                    mem_b_valid,
    output logic                    mem_b_write,
    output logic [            22:0] mem_b_addr,
    output logic [            63:0] mem_b_wdata,
    output logic [             7:0] mem_b_be,
    input  logic [            63:0] mem_b_rdata,
    input  logic                    cpu_reg_valid,
    input  logic                    cpu_reg_write,
    input  logic [             8:0] cpu_reg_addr,
    input  logic [            31:0] cpu_reg_wdata,
    output logic [            31:0] cpu_reg_rdata,
    input  logic                    cpu_req,
    output logic                    cpu_gnt,
    output logic [            31:0] isr,
    output logic                    st_in_flight,
    output logic                    st_link_in_flight
);
  localparam int UNIT = BASE;
  logic [1:0] accesses;
  sim_setting #(.UNIT(UNIT), .KEY(SET_SRAM_ACCESSES), .WIDTH(2)) set_accesses (.clk(clk), .rst, .value(accesses));
  logic [3:0] cdc_latency;
  sim_setting #(.UNIT(UNIT), .KEY(SET_CDC_LATENCY), .WIDTH(4)) set_cdc_latency (.clk(clk), .rst, .value(cdc_latency));
  logic [15:0] start_clocks;
  sim_setting #(.UNIT(UNIT), .KEY(SET_DMA_START_CLOCKS), .WIDTH(16)) set_start_clocks (.clk(clk), .rst, .value(start_clocks));
  logic [15:0] rtc_num;
  sim_setting #(.UNIT(UNIT), .KEY(SET_RTC_NUMERATOR), .WIDTH(16)) set_rtc_num (.clk(clk), .rst, .value(rtc_num));
  logic [15:0] rtc_den;
  sim_setting #(.UNIT(UNIT), .KEY(SET_RTC_DENOMINATOR), .WIDTH(16)) set_rtc_den (.clk(clk), .rst, .value(rtc_den));
  logic [31:0] nres_clocks;
  sim_setting #(.UNIT(UNIT), .KEY(SET_NRES_CLOCKS), .WIDTH(32)) set_nres_clocks (.clk(clk), .rst, .value(nres_clocks));
  logic [0:0] nres_truncate;
  sim_setting #(.UNIT(UNIT), .KEY(SET_NRES_TRUNCATE), .WIDTH(1)) set_nres_truncate (.clk(clk), .rst, .value(nres_truncate));
  logic [7:0] slack;
  sim_setting #(.UNIT(UNIT), .KEY(SET_SLACK), .WIDTH(8)) set_slack (.clk(link_clk), .rst, .value(slack));
  logic [7:0] stop_mark;
  sim_setting #(.UNIT(UNIT), .KEY(SET_STOP_MARK), .WIDTH(8)) set_stop_mark (.clk(link_clk), .rst, .value(stop_mark));
  logic [7:0] go_mark;
  sim_setting #(.UNIT(UNIT), .KEY(SET_GO_MARK), .WIDTH(8)) set_go_mark (.clk(link_clk), .rst, .value(go_mark));
  logic [15:0] refresh;
  sim_setting #(.UNIT(UNIT), .KEY(SET_REFRESH), .WIDTH(16)) set_refresh (.clk(link_clk), .rst, .value(refresh));
  logic [15:0] short_timeout;
  sim_setting #(.UNIT(UNIT), .KEY(SET_SHORT_TIMEOUT), .WIDTH(16)) set_short_timeout (.clk(link_clk), .rst, .value(short_timeout));
  logic [31:0] long_timeout;
  sim_setting #(.UNIT(UNIT), .KEY(SET_LONG_TIMEOUT), .WIDTH(32)) set_long_timeout (.clk(link_clk), .rst, .value(long_timeout));
  logic [31:0] beat_period;
  sim_setting #(.UNIT(UNIT), .KEY(SET_BEAT_PERIOD), .WIDTH(32)) set_beat_period (.clk(link_clk), .rst, .value(beat_period));
  logic [0:0] pci_wide;
  sim_setting #(.UNIT(UNIT), .KEY(SET_PCI_WIDE), .WIDTH(1)) set_pci_wide (.clk(pci_clk), .rst, .value(pci_wide));
  logic [0:0] pci_m66;
  sim_setting #(.UNIT(UNIT), .KEY(SET_PCI_M66), .WIDTH(1)) set_pci_m66 (.clk(pci_clk), .rst, .value(pci_m66));
  logic [7:0] pci_latency_timer;
  sim_setting #(.UNIT(UNIT), .KEY(SET_CARD_LATENCY_TIMER), .WIDTH(8)) set_pci_latency_timer (.clk(pci_clk), .rst, .value(pci_latency_timer));
  logic [15:0] pci_max_burst;
  sim_setting #(.UNIT(UNIT), .KEY(SET_CARD_MAX_BURST), .WIDTH(16)) set_pci_max_burst (.clk(pci_clk), .rst, .value(pci_max_burst));
  logic [7:0] pci_start_delay;
  sim_setting #(.UNIT(UNIT), .KEY(SET_CARD_START_DELAY), .WIDTH(8)) set_pci_start_delay (.clk(pci_clk), .rst, .value(pci_start_delay));
  logic [2:0] pci_irdy_wait;
  sim_setting #(.UNIT(UNIT), .KEY(SET_CARD_IRDY_WAIT), .WIDTH(3)) set_pci_irdy_wait (.clk(pci_clk), .rst, .value(pci_irdy_wait));
  logic [6:0] pci_line_bytes;
  sim_setting #(.UNIT(UNIT), .KEY(SET_CARD_LINE_BYTES), .WIDTH(7)) set_pci_line_bytes (.clk(pci_clk), .rst, .value(pci_line_bytes));
  logic [1:0] pci_devsel;
  sim_setting #(.UNIT(UNIT), .KEY(SET_CARD_DEVSEL), .WIDTH(2)) set_pci_devsel (.clk(pci_clk), .rst, .value(pci_devsel));
  logic [3:0] pci_write_initial;
  sim_setting #(.UNIT(UNIT), .KEY(SET_CARD_WRITE_INITIAL), .WIDTH(4)) set_pci_write_initial (.clk(pci_clk), .rst, .value(pci_write_initial));
  logic [3:0] pci_read_initial;
  sim_setting #(.UNIT(UNIT), .KEY(SET_CARD_READ_INITIAL), .WIDTH(4)) set_pci_read_initial (.clk(pci_clk), .rst, .value(pci_read_initial));
  logic [2:0] pci_subsequent;
  sim_setting #(.UNIT(UNIT), .KEY(SET_CARD_SUBSEQUENT), .WIDTH(3)) set_pci_subsequent (.clk(pci_clk), .rst, .value(pci_subsequent));
  logic [3:0] pci_read_wait;
  sim_setting #(.UNIT(UNIT), .KEY(SET_CARD_READ_WAIT), .WIDTH(4)) set_pci_read_wait (.clk(pci_clk), .rst, .value(pci_read_wait));
  logic [2:0] pci_stall_limit;
  sim_setting #(.UNIT(UNIT), .KEY(SET_CARD_STALL_LIMIT), .WIDTH(3)) set_pci_stall_limit (.clk(pci_clk), .rst, .value(pci_stall_limit));
  logic [7:0] pci_max_phases;
  sim_setting #(.UNIT(UNIT), .KEY(SET_CARD_MAX_PHASES), .WIDTH(8)) set_pci_max_phases (.clk(pci_clk), .rst, .value(pci_max_phases));
  logic [15:0] pci_discard;
  sim_setting #(.UNIT(UNIT), .KEY(SET_CARD_DISCARD), .WIDTH(16)) set_pci_discard (.clk(pci_clk), .rst, .value(pci_discard));

  logic tr_tx_start, tr_tx_read, tr_rx_first, tr_rx_done, tr_dma_start, tr_dma_done, tr_dma_e2l, tr_pio_write, tr_doorbell;
  logic [31:0] tr_tx_start_key, tr_tx_start_ago, tr_tx_read_key, tr_tx_read_bytes, tr_rx_first_key, tr_rx_done_key, tr_rx_done_bytes;
  logic [7:0] tr_rx_done_syndrome;
  logic [1:0] tr_dma_chain;
  logic [31:0] tr_dma_bytes, tr_doorbell_addr, tr_doorbell_data;
  logic [22:0] tr_dma_lar;
  logic [23:0] tr_pio_addr;
  logic tr_tx_head, tr_tx_tail, tr_rx_head, tr_rx_tail;
  logic [31:0] tr_tx_key, tr_tx_ago, tr_rx_key, tr_rx_ago, tr_rx_bytes;
  logic [7:0] tr_rx_syndrome, st_fill;
  logic st_rx_overrun, st_crc_bad, st_illegal, st_forward_reset, st_link_stopped, st_link_stopping;
  logic st_dma_error, st_doorbell_overflow, st_rx_lost, st_send_misuse, st_pio_misuse;
  logic tr_line;
  logic [31:0] isr_set;
  logic lanai_reset, intr_line, cpu_rvalid;
  logic [63:0] cpu_rdata;

  myri_nic nic (
      .link_rst(rst),
      .pci_rst(rst),
      .cfg_pci_base(32'hE000_0000),
      .cfg_pci_enabled(1'b1),
      .cpu_write(1'b0),
      .cpu_addr(23'd0),
      .cpu_wdata(64'd0),
      .cpu_be(8'd0),
      .cfg_accesses(accesses),
      .cfg_cdc_latency(cdc_latency),
      .cfg_start_clocks(start_clocks),
      .cfg_rtc_num(rtc_num),
      .cfg_rtc_den(rtc_den),
      .cfg_nres_clocks(nres_clocks),
      .cfg_nres_truncate(nres_truncate),
      .cfg_slack(slack),
      .cfg_stop_mark(stop_mark),
      .cfg_go_mark(go_mark),
      .cfg_refresh(refresh),
      .cfg_short_timeout(short_timeout),
      .cfg_long_timeout(long_timeout),
      .cfg_beat_period(beat_period),
      .cfg_pci_wide(pci_wide),
      .cfg_pci_m66(pci_m66),
      .cfg_pci_latency_timer(pci_latency_timer),
      .cfg_pci_max_burst(pci_max_burst),
      .cfg_pci_start_delay(pci_start_delay),
      .cfg_pci_irdy_wait(pci_irdy_wait),
      .cfg_pci_line_bytes(pci_line_bytes),
      .cfg_pci_devsel(pci_devsel),
      .cfg_pci_write_initial(pci_write_initial),
      .cfg_pci_read_initial(pci_read_initial),
      .cfg_pci_subsequent(pci_subsequent),
      .cfg_pci_read_wait(pci_read_wait),
      .cfg_pci_stall_limit(pci_stall_limit),
      .cfg_pci_max_phases(pci_max_phases),
      .cfg_pci_discard(pci_discard),
      .*
  );

  // A run of stores to consecutive words leaves one record, at its first.
  logic [23:0] pio_next;
  logic pio_run_start;
  logic [63:0] dma_bytes;
  always_ff @(posedge clk) begin
    if (rst) pio_next <= '1;
    else if (tr_pio_write) pio_next <= {tr_pio_addr[23:3], 3'd0} + 24'd8;
  end
  assign pio_run_start = tr_pio_write && {tr_pio_addr[23:3], 3'd0} != pio_next;
  assign dma_bytes = tr_dma_e2l ? {32'd0, tr_dma_bytes} : -{32'd0, tr_dma_bytes};

  sim_probe #(.UNIT(BASE + PART_NET_SEND), .EVENT(EV_TX_START), .CLOCK(CLOCK_NIC)) probe_tr_tx_start (
      .clk(clk), .rst, .strobe(tr_tx_start), .packet(tr_tx_start_key), .argument(32'd0), .argument2(64'd0), .ago(tr_tx_start_ago));
  sim_probe #(.UNIT(BASE + PART_NET_SEND), .EVENT(EV_TX_TAIL), .CLOCK(CLOCK_NIC)) probe_tr_tx_read (
      .clk(clk), .rst, .strobe(tr_tx_read), .packet(tr_tx_read_key), .argument(tr_tx_read_bytes), .argument2(64'd0), .ago(32'd0));
  sim_probe #(.UNIT(BASE + PART_NET_RECV), .EVENT(EV_RX_HEAD), .CLOCK(CLOCK_NIC)) probe_tr_rx_first (
      .clk(clk), .rst, .strobe(tr_rx_first), .packet(tr_rx_first_key), .argument(32'd0), .argument2(64'd0), .ago(32'd0));
  sim_probe #(.UNIT(BASE + PART_NET_RECV), .EVENT(EV_RX_TAIL), .CLOCK(CLOCK_NIC)) probe_tr_rx_done (
      .clk(clk), .rst, .strobe(tr_rx_done), .packet(tr_rx_done_key), .argument(tr_rx_done_bytes), .argument2({56'd0, tr_rx_done_syndrome}), .ago(32'd0));
  sim_probe #(.UNIT(BASE + PART_HOST_DMA), .EVENT(EV_DMA_START), .CLOCK(CLOCK_NIC)) probe_tr_dma_start (
      .clk(clk), .rst, .strobe(tr_dma_start), .packet({9'd0, tr_dma_lar}), .argument({30'd0, tr_dma_chain}), .argument2(dma_bytes), .ago(32'd0));
  sim_probe #(.UNIT(BASE + PART_HOST_DMA), .EVENT(EV_DMA_DONE), .CLOCK(CLOCK_NIC)) probe_tr_dma_done (
      .clk(clk), .rst, .strobe(tr_dma_done), .packet({9'd0, tr_dma_lar}), .argument({30'd0, tr_dma_chain}), .argument2(dma_bytes), .ago(32'd0));
  sim_probe #(.UNIT(BASE + PART_BRIDGE), .EVENT(EV_PIO_ACCEPT), .CLOCK(CLOCK_NIC)) probe_pio_run_start (
      .clk(clk), .rst, .strobe(pio_run_start), .packet(32'd0), .argument({8'd0, tr_pio_addr}), .argument2(64'd0), .ago(32'd0));
  sim_probe #(.UNIT(BASE + PART_DOORBELL), .EVENT(EV_DOORBELL), .CLOCK(CLOCK_NIC)) probe_tr_doorbell (
      .clk(clk), .rst, .strobe(tr_doorbell), .packet(32'd0), .argument(tr_doorbell_addr), .argument2({32'd0, tr_doorbell_data}), .ago(32'd0));
  sim_probe #(.UNIT(BASE + PART_LINK), .EVENT(EV_TX_HEAD), .CLOCK(CLOCK_LINK)) probe_tr_tx_head (
      .clk(link_clk), .rst, .strobe(tr_tx_head), .packet(tr_tx_key), .argument(32'd0), .argument2(64'd0), .ago(tr_tx_ago));
  sim_probe #(.UNIT(BASE + PART_LINK), .EVENT(EV_TX_TAIL), .CLOCK(CLOCK_LINK)) probe_tr_tx_tail (
      .clk(link_clk), .rst, .strobe(tr_tx_tail), .packet(tr_tx_key), .argument(32'd0), .argument2(64'd0), .ago(32'd0));
  sim_probe #(.UNIT(BASE + PART_LINK), .EVENT(EV_RX_HEAD), .CLOCK(CLOCK_LINK)) probe_tr_rx_head (
      .clk(link_clk), .rst, .strobe(tr_rx_head), .packet(tr_rx_key), .argument(32'd0), .argument2(64'd0), .ago(tr_rx_ago));
  sim_probe #(.UNIT(BASE + PART_LINK), .EVENT(EV_RX_TAIL), .CLOCK(CLOCK_LINK)) probe_tr_rx_tail (
      .clk(link_clk), .rst, .strobe(tr_rx_tail), .packet(tr_rx_key), .argument(tr_rx_bytes), .argument2({56'd0, tr_rx_syndrome}), .ago(32'd0));
  sim_level #(.UNIT(BASE + PART_LINK), .RISE(EV_STALL_START), .FALL(EV_STALL_END)) stopped (
      .clk(link_clk), .rst, .level(st_link_stopped), .packet(32'd0), .argument(32'd0));
  sim_invariant #(.UNIT(BASE + PART_LINK), .CODE(64)) invariant_st_rx_overrun (.clk(link_clk), .rst, .strobe(st_rx_overrun), .packet(tr_rx_key));
  sim_invariant #(.UNIT(BASE + PART_LINK), .CODE(65)) invariant_st_crc_bad (.clk(link_clk), .rst, .strobe(st_crc_bad), .packet(tr_rx_key));
  sim_invariant #(.UNIT(BASE + PART_NET_RECV), .CODE(66)) invariant_st_rx_lost (.clk(clk), .rst, .strobe(st_rx_lost), .packet(32'd0));
  sim_invariant #(.UNIT(BASE + PART_HOST_DMA), .CODE(67)) invariant_st_dma_error (.clk(clk), .rst, .strobe(st_dma_error), .packet(32'd0));
  sim_invariant #(.UNIT(BASE + PART_DOORBELL), .CODE(68)) invariant_st_doorbell_overflow (.clk(clk), .rst, .strobe(st_doorbell_overflow), .packet(32'd0));
  sim_invariant #(.UNIT(BASE + PART_NET_SEND), .CODE(69)) invariant_st_send_misuse (.clk(clk), .rst, .strobe(st_send_misuse), .packet(32'd0));
  sim_invariant #(.UNIT(BASE + PART_BRIDGE), .CODE(73)) invariant_st_pio_misuse (.clk(clk), .rst, .strobe(st_pio_misuse), .packet(32'd0));
  sim_invariant #(.UNIT(BASE + PART_LINK), .CODE(71)) invariant_st_forward_reset (.clk(link_clk), .rst, .strobe(st_forward_reset), .packet(tr_tx_key));
  sim_invariant #(.UNIT(BASE + PART_LINK), .CODE(72)) invariant_st_illegal (.clk(link_clk), .rst, .strobe(st_illegal), .packet(32'd0));
endmodule
