// One NIC on a PCI segment, its link looped back through a cable, for the benches of whole NICs; host CPU, host memory and
// the NIC's processor are the bench's. What the NIC of this kind does not have is 0.
module sim_nic_bench
  import myri_pci_pkg::*;
#(
    parameter int KIND = 9  // 9: LANai 9; 4: LANai 4, all but the link on clk; 0: SP adapter
) (
    input logic clk,  // NIC clock, free-running
    input logic link_clk,  // link clock, free-running
    input logic pci_clk,  // PCI clock, free-running; not used with KIND 4
    input logic rst,  // reset of all three
    input logic sleep,  // skip edges that nobody needs
    output logic [47:0] cycle,  // index of the NIC edge
    output logic [47:0] link_cycle,  // index of the link edge
    output logic [47:0] pci_cycle,  // index of the PCI edge
    output logic [31:0] edges,  // edges the NIC clock had
    output logic [31:0] link_edges,  // edges the link clock had
    output logic [31:0] pci_edges,  // edges the PCI clock had
    output logic asleep,  // no clock is needed
    input logic [3:0] cfg_cdc_latency,  // of every crossing
    input logic [1:0] cfg_accesses,  // SRAM accesses a clock
    input logic [15:0] cfg_start_clocks,  // start-up of a DMA block
    input logic cfg_wide,  // 64-bit bus
    input logic [7:0] cfg_delay,  // cable, characters
    input logic [7:0] cfg_bus_beat,  // SP: NIC clocks of a beat on the internal bus
    input logic [7:0] cfg_bus_access,  // SP: and of a single access
    input logic cfg_doorbell,  // SP: the adapter has doorbells
    input logic [31:0] cfg_nres_clocks,  // clocks of the network time-out, code 0
    input logic lanai_reg_valid,  // processor: register access
    input logic lanai_reg_write,  // 1 = write
    input logic [8:0] lanai_reg_addr,  // offset
    input logic [31:0] lanai_reg_wdata,  // write data
    output logic [31:0] lanai_reg_rdata,  // read data, same clock
    input logic lanai_req,  // processor: SRAM request
    output logic lanai_gnt,  // granted
    output logic [31:0] isr,  // ISR
    output logic [31:0] isr_set,  // bits set by hardware at the last edge
    output logic lanai_reset,  // level: the host holds the LANai in reset
    output logic intr_line,  // level: interrupt request, before it crosses to INTA#
    output logic tr_tx_start,  // clk: a packet was started ...
    output logic [31:0] tr_tx_start_ago,  // ... so many edges ago
    output logic [31:0] tr_tx_start_key,  // packet key
    output logic tr_tx_read,  // clk: its last byte went to the link side
    output logic [31:0] tr_tx_read_key,  // packet key
    output logic [31:0] tr_tx_read_bytes,  // its bytes, route included
    output logic tr_rx_first,  // clk: the first word of a packet is stored (HEAD)
    output logic [31:0] tr_rx_first_key,  // packet key
    output logic tr_rx_done,  // clk: its tail is stored (RECV)
    output logic [31:0] tr_rx_done_key,  // packet key
    output logic [31:0] tr_rx_done_bytes,  // bytes stored, syndrome included
    output logic [7:0] tr_rx_done_syndrome,  // CRC-8 syndrome, 0 = good
    output logic tr_dma_start,  // clk: a DMA block starts to move
    output logic tr_dma_done,  // clk: a DMA block is done
    output logic [1:0] tr_dma_chain,  // its chain, with both
    output logic tr_dma_e2l,  // its direction, 1 = host to SRAM
    output logic [31:0] tr_dma_bytes,  // its length
    output logic [22:0] tr_dma_lar,  // its SRAM address
    output logic [31:0] tr_dma_number,  // SP: number of the command
    output logic tr_move_start,  // SP, clk: the right engine begins to move user bytes
    output logic tr_move_done,  // SP, clk: they are in the Recv/Cmd FIFO
    output logic [31:0] tr_move_key,  // packet key, with both
    output logic [31:0] tr_move_bytes,  // how many, with both
    output logic [31:0] tr_move_number,  // number of their STORE, with both
    output logic tr_pio_write,  // clk: a write of the host has landed ...
    output logic [23:0] tr_pio_addr,  // ... at this offset of the card's region
    output logic tr_doorbell,  // clk: a doorbell entry is stored
    output logic [31:0] tr_doorbell_addr,  // its address, also with st_doorbell_overflow
    output logic [31:0] tr_doorbell_data,  // its data, likewise
    output logic tr_tx_head,  // link_clk: first byte of a packet went out tr_tx_ago edges ago
    output logic tr_tx_tail,  // link_clk: its GAP went out
    output logic [31:0] tr_tx_key,  // packet key, with both
    output logic [31:0] tr_tx_ago,  // with tr_tx_head
    output logic tr_rx_head,  // link_clk: first byte of a packet came tr_rx_ago edges ago
    output logic tr_rx_tail,  // link_clk: its GAP came
    output logic [31:0] tr_rx_key,  // packet key, with both
    output logic [31:0] tr_rx_ago,  // with tr_rx_head
    output logic [31:0] tr_rx_bytes,  // with tr_rx_tail: bytes, CRC character included
    output logic [7:0] tr_rx_syndrome,  // with tr_rx_tail: CRC-8 syndrome
    output logic st_rx_overrun,  // link_clk: strobe: slack overflow, a character was lost
    output logic st_crc_bad,  // link_clk: strobe, with tr_rx_tail
    output logic st_illegal,  // link_clk: strobe: unknown control character
    output logic st_forward_reset,  // link_clk: strobe: the packet sent was cut
    output logic st_link_stopped,  // link_clk: level: STOP of the peer in force
    output logic st_link_stopping,  // link_clk: level: our STOP in force
    output logic st_beat_missed,  // link_clk: level: the last BEAT due did not come
    output logic st_link_down,  // link_clk: level: three BEATs in a row did not come
    output logic [7:0] st_fill,  // link_clk: slack fill
    output logic st_dma_error,  // clk: a chain stopped by an error
    output logic st_doorbell_overflow,  // clk: a doorbell entry was dropped
    output logic st_rx_lost,  // clk: a packet was dropped or cut here
    output logic st_send_misuse,  // clk: a write of the send registers was ignored
    output logic st_pio_misuse,  // clk: a register write of the host was ignored
    output logic st_queue_overflow,  // SP, clk: an insertion was lost
    output logic st_packet_misuse,  // SP, clk: a packet does not have what was asked for
    output logic st_in_flight,  // clk: send or DMA has something open
    output logic st_link_in_flight,  // link_clk: a packet is half sent or half received
    input logic cpu_valid,  // CPU access
    output logic cpu_ready,  // taken
    input logic cpu_write,  // 1 = store
    input logic [31:0] cpu_addr,  // 8-byte aligned
    input logic [63:0] cpu_data,  // store data in lanes
    input logic [7:0] cpu_be,  // bytes, side by side
    input logic cpu_wc,  // write-combining memory
    input logic cpu_fence,  // wait until combined stores are posted
    input logic cpu_config,  // configuration cycle (type 0, address as on AD)
    output logic cpu_rvalid,  // read data, strobe
    output logic [63:0] cpu_rdata,  // lanes
    output logic mem_valid,  // host memory access
    output logic mem_write,  // 1 = write
    output logic [31:0] mem_addr,  // 8-byte aligned
    output logic [63:0] mem_wdata,  // lanes
    output logic [7:0] mem_be,  // bytes written
    input logic [63:0] mem_rdata,  // valid in the clock after a read
    output logic intr,  // INTA# of any agent, level (combinational)
    output logic idle_out,  // every store of the CPU is done on the bus
    output logic idle_in,  // every DMA write is in memory
    output logic [63:0] pci_ad,  // AD
    output logic [7:0] pci_cbe,  // C/BE#
    output logic pci_par,  // PAR
    output logic pci_par64,  // PAR64
    output logic pci_frame_n,  // FRAME#
    output logic pci_irdy_n,  // IRDY#
    output logic pci_trdy_n,  // TRDY#
    output logic pci_devsel_n,  // DEVSEL#
    output logic pci_stop_n,  // STOP#
    output logic pci_req64_n,  // REQ64#
    output logic pci_ack64_n,  // ACK64#
    output logic [1:0] pci_req_n,  // requests
    output logic [1:0] pci_gnt_n,  // grants
    output logic pci_conflict  // two drivers on one wire
);
  localparam int WIDTH = KIND == 4 ? 32 : 64;
  logic nic_rvalid;
  logic [WIDTH-1:0] nic_rdata;
  logic seg_tr_pio_accept;
  logic seg_tr_pio_start;
  logic seg_tr_pio_done;
  logic seg_tr_pio_error;
  logic seg_tr_dma_first;
  logic seg_tr_dma_last;
  logic seg_tr_dma_write;
  logic seg_ev_retry;
  logic seg_ev_disconnect;
  logic seg_m66en;
  logic [31:0] seg_count_data;
  logic [31:0] seg_count_busy;
  logic unused_ok;
  assign unused_ok = ^{
    pci_clk, wires, cfg_sram_above, cfg_pci_m66, cfg_pci_wide, cfg_accesses, cfg_rtc_num, cfg_rtc_den,
    cfg_nres_truncate, cfg_nres_clocks, cfg_bus_beat,
    cfg_bus_access, cfg_doorbell, nic_rvalid, nic_rdata, seg_tr_pio_accept, seg_tr_pio_start, seg_tr_pio_done,
    seg_tr_pio_error, seg_tr_dma_first, seg_tr_dma_last, seg_tr_dma_write, seg_ev_retry,
    seg_ev_disconnect, seg_m66en, seg_count_data, seg_count_busy
  };
  logic run_clk, run_link_clk, run_pci_clk;
  logic
      nic_busy,
      nic_alarm_valid,
      nic_link_busy,
      nic_link_alarm_valid,
      nic_pci_busy,
      segment_busy,
      cable_busy;
  logic [47:0] nic_alarm_cycle, nic_link_alarm_cycle;
  logic [PCI_IN_BITS-1:0] pci_in;
  logic [PCI_OUT_BITS-1:0] pci_out;
  logic [PCI_WIRES-1:0] wires;
  logic [8:0] tx, rx;
  logic tx_hold, rx_hold;
  logic mem_a_valid, mem_a_write, mem_b_valid, mem_b_write;
  logic [22:0] mem_a_addr, mem_b_addr;
  logic [WIDTH-1:0] mem_a_wdata, mem_a_rdata, mem_b_wdata, mem_b_rdata;
  logic [WIDTH/8-1:0] mem_a_be, mem_b_be;
  logic clk_busy;

  assign clk_busy = nic_busy || (KIND == 4 && segment_busy);
  assign asleep = !(nic_busy || nic_link_busy || cable_busy || nic_pci_busy || segment_busy);
  assign pci_ad = wires[PCI_AD+:64];
  assign pci_cbe = wires[PCI_CBE+:8];
  assign pci_par = wires[PCI_PAR];
  assign pci_par64 = wires[PCI_PAR64];
  assign pci_frame_n = wires[PCI_FRAME_N];
  assign pci_irdy_n = wires[PCI_IRDY_N];
  assign pci_trdy_n = wires[PCI_TRDY_N];
  assign pci_devsel_n = wires[PCI_DEVSEL_N];
  assign pci_stop_n = wires[PCI_STOP_N];
  assign pci_req64_n = wires[PCI_REQ64_N];
  assign pci_ack64_n = wires[PCI_ACK64_N];

  sim_gate u_gate (
      .clk(clk),
      .rst(rst),
      .sleep(sleep),
      .busy(clk_busy),
      .alarm_valid(nic_alarm_valid),
      .alarm_cycle(nic_alarm_cycle),
      .gated(run_clk),
      .cycle(cycle),
      .edges(edges)
  );

  sim_gate u_link_gate (
      .clk(link_clk),
      .rst(rst),
      .sleep(sleep),
      .busy(nic_link_busy || cable_busy),
      .alarm_valid(nic_link_alarm_valid),
      .alarm_cycle(nic_link_alarm_cycle),
      .gated(run_link_clk),
      .cycle(link_cycle),
      .edges(link_edges)
  );

  // With KIND 4 both gates stand at one clock and decide alike, so their edges are the same.
  if (KIND == 4) begin : gen_one_clock
    sim_gate u_pci_gate (
        .clk(clk),
        .rst(rst),
        .sleep(sleep),
        .busy(clk_busy),
        .alarm_valid(nic_alarm_valid),
        .alarm_cycle(nic_alarm_cycle),
        .gated(run_pci_clk),
        .cycle(pci_cycle),
        .edges(pci_edges)
    );
  end else begin : gen_pci_clock
    sim_gate u_pci_gate (
        .clk(pci_clk),
        .rst(rst),
        .sleep(sleep),
        .busy(nic_pci_busy || segment_busy),
        .alarm_valid(1'b0),
        .alarm_cycle(48'd0),
        .gated(run_pci_clk),
        .cycle(pci_cycle),
        .edges(pci_edges)
    );
  end

  myri_cable u_cable (
      .clk(run_link_clk),
      .rst(rst),
      .in(tx),
      .in_hold(tx_hold),
      .cfg_delay(cfg_delay),
      .out(rx),
      .out_hold(rx_hold),
      .busy(cable_busy)
  );

  // Settings that no test changes.
  wire [15:0] cfg_rtc_num = 16'd3;
  wire [15:0] cfg_rtc_den = 16'd200;
  wire [7:0] cfg_slack = 8'd80;
  wire [7:0] cfg_stop_mark = 8'd56;
  wire [7:0] cfg_go_mark = 8'd40;
  wire [15:0] cfg_refresh = 16'd8;
  wire [15:0] cfg_short_timeout = 16'd16;
  wire [31:0] cfg_long_timeout = 32'd4000000;
  wire [31:0] cfg_beat_period = 32'd1600;
  wire cfg_nres_truncate = 1'b1;
  wire [31:0] cfg_pci_base = 32'hE000_0000;
  wire cfg_pci_enabled = 1'b1;
  wire cfg_pci_m66 = 1'b1;
  wire [1:0] cfg_pci_devsel = 2'd1;
  wire [3:0] cfg_pci_write_initial = 4'd0;
  wire [3:0] cfg_pci_read_initial = 4'd0;
  wire [2:0] cfg_pci_subsequent = 3'd0;
  wire [3:0] cfg_pci_read_wait = 4'd10;
  wire [2:0] cfg_pci_stall_limit = 3'd4;
  wire [7:0] cfg_pci_max_phases = 8'd0;
  wire [15:0] cfg_pci_discard = 16'd0;
  wire [7:0] cfg_pci_latency_timer = 8'd0;
  wire [15:0] cfg_pci_max_burst = 16'd0;
  wire [7:0] cfg_pci_start_delay = 8'd0;
  wire [2:0] cfg_pci_irdy_wait = 3'd4;
  wire [6:0] cfg_pci_line_bytes = 7'd32;
  wire cfg_pci_wide = cfg_wide;
  wire cfg_sram_above = 1'b0;

  if (KIND == 9) begin : gen_lanai9
    assign {tr_dma_number, tr_move_start, tr_move_done, tr_move_key, tr_move_bytes, tr_move_number} = '0;
    assign {st_queue_overflow, st_packet_misuse} = 2'd0;
    myri_nic u_nic (
        .*,
        .clk(run_clk),
        .engine_clk({4{run_clk}}),
        .engine_needed(),
        .busy(nic_busy),
        .alarm_valid(nic_alarm_valid),
        .alarm_cycle(nic_alarm_cycle),
        .link_clk(run_link_clk),
        .link_rst(rst),
        .link_busy(nic_link_busy),
        .link_alarm_valid(nic_link_alarm_valid),
        .link_alarm_cycle(nic_link_alarm_cycle),
        .pci_clk(run_pci_clk),
        .pci_rst(rst),
        .pci_busy(nic_pci_busy),
        .cpu_reg_valid(lanai_reg_valid),
        .cpu_reg_write(lanai_reg_write),
        .cpu_reg_addr(lanai_reg_addr),
        .cpu_reg_wdata(lanai_reg_wdata),
        .cpu_reg_rdata(lanai_reg_rdata),
        .cpu_req(lanai_req),
        .cpu_gnt(lanai_gnt),
        .cpu_write(1'b0),
        .cpu_addr(23'd0),
        .cpu_wdata(64'd0),
        .cpu_be(8'd0),
        .cpu_rvalid(nic_rvalid),
        .cpu_rdata(nic_rdata)
    );
  end else if (KIND == 4) begin : gen_lanai4
    assign {tr_dma_chain, tr_doorbell, tr_doorbell_addr, tr_doorbell_data, st_doorbell_overflow} = '0;
    assign {tr_dma_number, tr_move_start, tr_move_done, tr_move_key, tr_move_bytes, tr_move_number} = '0;
    assign {st_queue_overflow, st_packet_misuse, nic_pci_busy} = 3'd0;
    myri_nic4 u_nic (
        .*,
        .clk(run_clk),
        .busy(nic_busy),
        .alarm_valid(nic_alarm_valid),
        .alarm_cycle(nic_alarm_cycle),
        .link_clk(run_link_clk),
        .link_rst(rst),
        .link_busy(nic_link_busy),
        .link_alarm_valid(nic_link_alarm_valid),
        .link_alarm_cycle(nic_link_alarm_cycle),
        .cpu_reg_valid(lanai_reg_valid),
        .cpu_reg_write(lanai_reg_write),
        .cpu_reg_addr(lanai_reg_addr),
        .cpu_reg_wdata(lanai_reg_wdata),
        .cpu_reg_rdata(lanai_reg_rdata),
        .cpu_req(lanai_req),
        .cpu_gnt(lanai_gnt),
        .cpu_write(1'b0),
        .cpu_addr(23'd0),
        .cpu_wdata('0),
        .cpu_be('0),
        .cpu_rvalid(nic_rvalid),
        .cpu_rdata(nic_rdata)
    );
  end else begin : gen_sp
    assign {isr_set, lanai_reset, tr_tx_start_ago, tr_dma_chain, tr_dma_lar, st_rx_lost, nic_rvalid} = '0;
    sp_adapter u_nic (
        .*,
        .clk(run_clk),
        .busy(nic_busy),
        .alarm_valid(nic_alarm_valid),
        .alarm_cycle(nic_alarm_cycle),
        .link_clk(run_link_clk),
        .link_rst(rst),
        .link_busy(nic_link_busy),
        .link_alarm_valid(nic_link_alarm_valid),
        .link_alarm_cycle(nic_link_alarm_cycle),
        .pci_clk(run_pci_clk),
        .pci_rst(rst),
        .pci_busy(nic_pci_busy),
        .cpu_reg_valid(lanai_reg_valid),
        .cpu_reg_write(lanai_reg_write),
        .cpu_reg_addr(lanai_reg_addr),
        .cpu_reg_wdata(lanai_reg_wdata),
        .cpu_reg_rdata(lanai_reg_rdata),
        .cpu_req(lanai_req),
        .cpu_gnt(lanai_gnt),
        .cpu_write(1'b0),
        .cpu_addr(23'd0),
        .cpu_wdata(64'd0),
        .cpu_be(8'd0),
        .cpu_rdata(nic_rdata)
    );
  end

  myri_sram_stub #(
      .SIZE_LOG2(16),
      .WIDTH(WIDTH)
  ) u_sram (
      .clk(run_clk),
      .a_valid(mem_a_valid),
      .a_write(mem_a_write),
      .a_addr(mem_a_addr),
      .a_wdata(mem_a_wdata),
      .a_be(mem_a_be),
      .a_rdata(mem_a_rdata),
      .b_valid(mem_b_valid),
      .b_write(mem_b_write),
      .b_addr(mem_b_addr),
      .b_wdata(mem_b_wdata),
      .b_be(mem_b_be),
      .b_rdata(mem_b_rdata)
  );

  myri_pci_segment u_segment (
      .*,
      .clk(run_pci_clk),
      .cycle(pci_cycle),
      .slot_in(pci_in),
      .slot_out(pci_out),
      .slot_present(1'b1),
      .cfg_m66(1'b1),
      .cfg_latency_timer(8'd0),
      .cfg_start_delay(8'd0),
      .cfg_extra_num(4'd0),
      .cfg_extra_den(4'd0),
      .cfg_post_depth(5'd4),
      .cfg_wc_bytes(7'd32),
      .cfg_read_return(8'd0),
      .cfg_mem_log2(6'd16),
      .cfg_devsel(2'd1),
      .cfg_up_write_initial(4'd0),
      .cfg_up_read_initial(4'd0),
      .cfg_up_subsequent(3'd0),
      .cfg_up_read_wait(4'd8),
      .cfg_up_stall_limit(3'd4),
      .cfg_up_max_phases(8'd0),
      .cfg_in_buffer(8'd32),
      .cfg_drain_num(8'd1),
      .cfg_drain_den(8'd1),
      .cfg_read_latency(8'd4),
      .tr_pio_accept(seg_tr_pio_accept),
      .tr_pio_start(seg_tr_pio_start),
      .tr_pio_done(seg_tr_pio_done),
      .tr_pio_error(seg_tr_pio_error),
      .tr_dma_first(seg_tr_dma_first),
      .tr_dma_last(seg_tr_dma_last),
      .tr_dma_write(seg_tr_dma_write),
      .ev_retry(seg_ev_retry),
      .ev_disconnect(seg_ev_disconnect),
      .grants_n(pci_gnt_n),
      .requests_n(pci_req_n),
      .m66en(seg_m66en),
      .conflict(pci_conflict),
      .count_data(seg_count_data),
      .count_busy(seg_count_busy),
      .busy(segment_busy)
  );
endmodule
