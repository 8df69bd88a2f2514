// One NIC on a PCI segment, its link looped back through a cable, for the benches of whole NICs; the bench acts as host
// CPU, host memory and the NIC's processor. Outputs that this kind of NIC does not have are 0.
module sim_nic_bench
  import myri_sleep_pkg::*;
  import myri_nic_trace_pkg::*;
  import sp_trace_pkg::*;
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
    input logic sleep,  // 1 = skip unneeded clock edges
    output logic [47:0] cycle,  // index of the NIC edge
    output logic [47:0] link_cycle,  // index of the link edge
    output logic [47:0] pci_cycle,  // index of the PCI edge
    output logic [31:0] edges,  // edges the NIC clock had
    output logic [31:0] link_edges,  // edges the link clock had
    output logic [31:0] pci_edges,  // edges the PCI clock had
    output logic asleep,  // no clock needs an edge
    input logic [3:0] cfg_cdc_latency,  // latency of every crossing
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
    output logic cpu_gnt,  // grant
    output logic [31:0] isr,  // ISR
    output logic [31:0] isr_set,  // bits set by hardware at the last edge
    output logic lanai_reset,  // level: the host holds the LANai in reset
    output logic intr_line,  // level: interrupt request, before it crosses to INTA#
    `include "sim_trace_ports.svh"
    output logic tr_dma_start,  // clk: a DMA block starts to move
    output logic tr_dma_done,  // clk: a DMA block is done
    output logic [1:0] tr_dma_chain,  // chain of the block, with both
    output logic tr_dma_e2l,  // direction of the block, 1 = host to SRAM
    output logic [31:0] tr_dma_bytes,  // its length
    output logic [22:0] tr_dma_lar,  // its SRAM address
    output logic [31:0] tr_dma_number,  // SP: number of the command
    output logic tr_move_start,  // SP, clk: the right engine begins to move user bytes
    output logic tr_move_done,  // SP, clk: they are in the Recv/Cmd FIFO
    output logic [31:0] tr_move_key,  // packet key, with both
    output logic [31:0] tr_move_bytes,  // number of user bytes, with both
    output logic [31:0] tr_move_number,  // number of their STORE, with both
    output logic tr_pio_write,  // clk: a write of the host has arrived ...
    output logic [23:0] tr_pio_addr,  // ... at this offset of the card's region
    output logic tr_doorbell,  // clk: a doorbell entry is stored
    output logic [31:0] tr_doorbell_addr,  // its address, also with st_doorbell_overflow
    output logic [31:0] tr_doorbell_data,  // data of the entry, also with doorbell_overflow
    output logic st_dma_error,  // clk: a chain stopped by an error
    output logic st_doorbell_overflow,  // clk: a doorbell entry was dropped
    output logic st_rx_lost,  // clk: a packet was dropped or cut here
    output logic st_send_misuse,  // clk: a write of the send registers was ignored
    output logic st_pio_misuse,  // clk: a register write of the host was ignored
    output logic st_queue_overflow,  // SP, clk: an insertion was lost
    output logic st_packet_misuse,  // SP, clk: a command exceeded its packet
    output logic st_in_flight,  // clk: send or DMA has something open
    output logic st_link_in_flight,  // link_clk: a packet is partly sent or received
    `include "sim_host_ports.svh"
    output logic intr,  // level: INTA# of any agent (combinational)
    output logic idle_out,  // every store of the CPU has finished on the bus
    output logic idle_in,  // every DMA write is in memory
    `include "sim_pci_ports.svh"
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
  logic stop_lasts;
  sram_request_t mem_a, mem_b, cpu_sram;
  logic [63:0] mem_a_rdata, mem_b_rdata;
  assign cpu_sram = {cpu_req, {($bits(sram_request_t) - 1) {1'b0}}};
  logic unused_ok;
  assign unused_ok = ^{pci_clk, cfg_bus_beat, cfg_bus_access, cfg_doorbell};

  send_trace_t  send_trace;
  recv_trace_t  recv_trace;
  dma_trace_t   dma_trace;
  pio_trace_t   pio_trace;
  link_trace_t  link_trace;
  nic_status_t  status;
  reg_request_t cpu_reg;
  assign cpu_reg = {cpu_reg_valid, cpu_reg_write, cpu_reg_addr, cpu_reg_wdata};
  nic_trace_t  nic;
  net_trace_t  net;
  host_trace_t host;
  assign net = nic.net;
  assign host = nic.host;
  assign send_trace = net.send;
  assign recv_trace = net.recv;
  assign link_trace = net.link;
  assign dma_trace = host.dma;
  assign pio_trace = host.pio;
  assign status = nic.status;
  sleep_t needs, link_needs;
  assign busy = needs.busy;
  assign alarm = needs.alarm;
  assign link_busy = link_needs.busy;
  assign link_alarm = link_needs.alarm;
  assign st_in_flight = needs.in_flight;
  assign st_link_in_flight = link_needs.in_flight;
  `include "sim_trace_fields.svh"
  assign {tr_dma_start, tr_dma_done, tr_dma_chain, tr_dma_e2l, tr_dma_bytes, tr_dma_lar} = dma_trace;
  assign {tr_pio_write, tr_pio_addr, tr_doorbell, tr_doorbell_addr, tr_doorbell_data} = pio_trace;
  assign {st_dma_error, st_doorbell_overflow, st_rx_lost, st_send_misuse, st_pio_misuse} = status;
  assign tr_dma_number = {9'd0, tr_dma_lar};
  nic_settings_t cfg;
  sim_nic_fixed u_fixed (.*);
  sim_nic_gates #(.KIND(KIND)) u_gates (.*);
  myri_cable u_cable (
      .clk(run_link_clk),
      .rst(rst),
      .in(tx),
      .cfg_delay(cfg_delay),
      .out(rx),
      .busy(cable_busy),
      .flying(),
      .delayed()
  );
  sim_lasting u_lasting (
      .clk(run_link_clk),
      .rst(rst),
      .character(rx),
      .stop_lasts(stop_lasts)
  );

  if (KIND == 9) begin : gen_lanai9
    assign {tr_move_start, tr_move_done, tr_move_key, tr_move_bytes, tr_move_number} = '0;
    assign {st_queue_overflow, st_packet_misuse} = 2'd0;
    myri_nic u_nic (
        .*,
        .sleep(needs),
        .link_sleep(link_needs),
        .trace(nic),
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
        .sleep(needs),
        .link_sleep(link_needs),
        .trace(nic),
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
    sp_trace_t trace;
    assign nic = trace.nic;
    assign {tr_move_start, tr_move_done, tr_move_key, tr_move_bytes, tr_move_number} = trace.move;
    assign {st_queue_overflow, st_packet_misuse} = {trace.queue_overflow, trace.packet_misuse};
    sp_adapter u_nic (
        .*,
        .sleep(needs),
        .link_sleep(link_needs),
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

  myri_sram #(
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
