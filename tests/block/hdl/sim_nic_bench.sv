// One NIC on a PCI segment, its link looped back through a cable, for the benches of whole NICs; host CPU, host memory and
// the NIC's processor are the bench's. What the NIC of this kind does not have is 0.
module sim_nic_bench
  import myri_sleep_pkg::*;
  import myri_nic_trace_pkg::*;
  import myri_nic_engines_pkg::*;
  import myri_pci_pkg::*;
  import myri_settings_pkg::*;
  import myri_sram_pkg::*;
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
    input logic cpu_reg_valid,  // processor: register access
    input logic cpu_reg_write,  // 1 = write
    input logic [8:0] cpu_reg_addr,  // offset
    input logic [31:0] cpu_reg_wdata,  // write data
    output logic [31:0] cpu_reg_rdata,  // read data, same clock
    input logic cpu_req,  // processor: SRAM request
    output logic cpu_gnt,  // granted
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
  logic run_clk, run_link_clk, run_pci_clk;
  logic busy, link_busy, cable_busy, pci_busy, segment_busy;
  alarm_t alarm, link_alarm;
  pci_in_t  pci_in;
  pci_out_t pci_out;
  logic [8:0] tx, rx;
  logic tx_hold, rx_hold;
  sram_request_t mem_a, mem_b, cpu_sram;
  logic [63:0] mem_a_rdata, mem_b_rdata;
  assign cpu_sram = {cpu_req, {($bits(sram_request_t) - 1) {1'b0}}};
  logic unused_ok;
  assign unused_ok = ^{pci_clk, cfg_bus_beat, cfg_bus_access, cfg_doorbell};

  send_trace_t send_trace;
  recv_trace_t recv_trace;
  dma_trace_t  dma_trace;
  pio_trace_t  pio_trace;
  link_trace_t link_trace;
  nic_status_t status;
  assign {tr_tx_start, tr_tx_start_ago, tr_tx_start_key, tr_tx_read, tr_tx_read_key, tr_tx_read_bytes} = send_trace;
  assign {
    tr_rx_first,
    tr_rx_first_key,
    tr_rx_done,
    tr_rx_done_key,
    tr_rx_done_bytes,
    tr_rx_done_syndrome
  } = recv_trace;
  assign {tr_dma_start, tr_dma_done, tr_dma_chain, tr_dma_e2l, tr_dma_bytes, tr_dma_lar} = dma_trace;
  assign {tr_pio_write, tr_pio_addr, tr_doorbell, tr_doorbell_addr, tr_doorbell_data} = pio_trace;
  assign {
    tr_tx_head,
    tr_tx_tail,
    tr_tx_key,
    tr_tx_ago,
    tr_rx_head,
    tr_rx_tail,
    tr_rx_key,
    tr_rx_ago,
    tr_rx_bytes,
    tr_rx_syndrome,
    st_rx_overrun,
    st_crc_bad,
    st_illegal,
    st_forward_reset,
    st_link_stopped,
    st_link_stopping,
    st_beat_missed,
    st_link_down,
    st_fill
  } = link_trace;
  assign {st_dma_error, st_doorbell_overflow, st_rx_lost, st_send_misuse, st_pio_misuse} = status;
  assign tr_dma_number = {9'd0, tr_dma_lar};
  nic_settings_t cfg;
  sim_nic_fixed u_fixed (.*);
  sim_nic_gates #(.KIND(KIND)) u_gates (.*);
  myri_cable u_cable (
      .clk(run_link_clk),
      .rst(rst),
      .in(tx),
      .in_hold(tx_hold),
      .cfg_delay(cfg_delay),
      .out(rx),
      .out_hold(rx_hold),
      .busy(cable_busy),
      .flying(),
      .delayed()
  );

  if (KIND == 9) begin : gen_lanai9
    assign {tr_move_start, tr_move_done, tr_move_key, tr_move_bytes, tr_move_number} = '0;
    assign {st_queue_overflow, st_packet_misuse} = 2'd0;
    myri_nic u_nic (
        .*,
        .nic_gated_clk({ENGINES{run_clk}}),
        .link_gated_clk({2{run_link_clk}}),
        .link_gated_needed(),
        .nic_gated_needed(),
        .link_clk(run_link_clk),
        .link_rst(rst),
        .pci_clk(run_pci_clk),
        .pci_gated_clk({PCI_SIDES{run_pci_clk}}),
        .pci_gated_needed(),
        .pci_rst(rst),
        .cpu_free(),
        .cpu_read()
    );
  end else if (KIND == 4) begin : gen_lanai4
    assign {tr_move_start, tr_move_done, tr_move_key, tr_move_bytes, tr_move_number} = '0;
    assign {st_queue_overflow, st_packet_misuse, pci_busy} = 3'd0;
    myri_nic4 u_nic (
        .*,
        .clk(run_clk),
        .pci_gated_clk({PCI_SIDES{run_clk}}),
        .pci_gated_needed(),
        .link_clk(run_link_clk),
        .link_rst(rst),
        .cpu_free(),
        .cpu_read()
    );
  end else begin : gen_sp
    assign {isr_set, lanai_reset} = '0;
    sp_adapter u_nic (
        .*,
        .clk(run_clk),
        .link_clk(run_link_clk),
        .link_rst(rst),
        .pci_clk(run_pci_clk),
        .pci_gated_clk({PCI_SIDES{run_pci_clk}}),
        .pci_gated_needed(),
        .pci_rst(rst),
        .cpu_rdata()
    );
  end

  myri_sram_stub #(
      .SIZE_LOG2(16),
      .WIDTH(WIDTH)
  ) u_sram (
      .*,
      .clk(run_clk)
  );

  sim_bench_segment u_segment (
      .*,
      .clk(run_pci_clk),
      .cycle(pci_cycle),
      .slot_in(pci_in),
      .slot_out(pci_out),
      .cfg_mem_log2(6'd16)
  );
endmodule
