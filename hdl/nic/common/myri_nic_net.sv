// Packet interface of the NIC: net send and net receive engines, the link port, and their crossings.
//
// myri_net_send and myri_net_recv run in the NIC clock; myri_nic_link contains the link clock and the crossings.
// Timing: see the parts.
module myri_nic_net
  import myri_sleep_pkg::*;
  import myri_nic_trace_pkg::*;
  import myri_nic_engines_pkg::*;
  import myri_settings_pkg::*;
  import myri_sram_pkg::*;
#(
    parameter int SLACK_LOG2 = 7,  // slack memory of the link port
    parameter int FIFO_LOG2  = 4,  // entries of a data crossing = 2**FIFO_LOG2
    parameter int WIDTH      = 64  // bits of a word of SRAM
) (
    input logic link_clk,  // character clock
    input logic [HALVES-1:0] link_gated_clk,  // clocks of its halves, gated
    input logic link_rst,  // synchronous reset
    input logic [47:0] link_cycle,  // index of the coming edge
    input logic [8:0] rx,  // {data flag, byte} from the cable
    output logic [8:0] tx,  // {data flag, byte} to the cable
    input logic stop_lasts,  // see myri_link_port
    input nic_settings_t cfg,  // configuration of the NIC
    output net_trace_t trace,  // events of both clocks
    output logic [HALVES-1:0] link_gated_needed,  // clock enables of these clocks
    output sleep_t link_sleep,  // when link_clk must run
    input logic clk,  // NIC clock of link_event; edges with event_needed = 0 may be skipped
    input logic send_clk,  // clk of the send engine; edges with send_needed = 0 may be skipped
    input logic recv_clk,  // clk of the receive engine; edges with recv_needed = 0 may be skipped
    input logic rst,  // synchronous reset
    input logic [47:0] cycle,  // index of the coming edge
    input logic hold_reset,  // LANai in reset
    input logic tx_crc_enable,  // MYRINET bits
    input logic rx_crc_enable,  // RX_CRC8_EN
    input logic nres_enable,  // NRES_EN
    input logic [1:0] nres_code,  // TIMEOUT
    input logic [23:0] w_data,  // register writes
    input logic w_rmp,  // RMP
    input logic w_rml,  // RML
    input logic w_smp,  // SMP
    input logic w_sml,  // SML
    input logic w_smlt,  // SMLT
    input logic w_sa,  // SA
    output logic [23:0] rmp,  // read values of the registers
    output logic [23:0] rml,  // RML
    output logic [31:0] recv_length,  // RECV_LENGTH
    output logic [2:0] recv_orun,  // value for ISR
    output logic [23:0] smp,  // SMP
    output logic [23:0] send_limit,  // SML, SMLT
    output logic [2:0] sa,  // SA
    output logic send_started,  // strobe: a piece was started
    output logic set_send,  // strobes for ISR and ERRORS
    output logic send_misuse,  // a write of the send registers was ignored
    output logic set_head,  // HEAD
    output logic set_recv,  // RECV
    output logic set_buff,  // BUFF
    output logic set_nres,  // NRES
    output logic recv_truncated,  // packet truncated by the time-out
    output logic recv_reset,  // receiver reset by the time-out
    output logic recv_lost,  // packet lost
    output link_event_t link_event,  // strobes
    output sram_request_t rx_sram,  // SRAM: net receive
    input logic rx_gnt,  // grant
    output sram_request_t tx_sram,  // SRAM: net send
    input logic tx_gnt,  // grant
    input sram_read_t tx_read,  // read data
    output sleep_t sleep,  // when the NIC clock must run
    output logic send_needed,  // 1 = the coming edge of send_clk is needed
    output logic recv_needed,  // 1 = the coming edge of recv_clk is needed
    output logic event_needed  // 1 = the coming edge of clk is needed
);
  logic busy, in_flight;
  alarm_t alarm;  // network time-out
  logic send_valid, send_ready, recv_valid, recv_ready;
  send_head_t send_head;
  recv_head_t recv_head;
  logic [WIDTH-1:0] send_data, recv_data;
  logic send_busy, recv_busy, side_busy, send_in_flight;
  logic send_crossing, recv_crossing;

  assign sleep = {busy, busy, in_flight, alarm};
  assign busy = send_busy || recv_busy || side_busy;
  assign send_needed = send_busy || send_crossing;
  assign recv_needed = recv_busy || recv_crossing;
  assign in_flight = send_in_flight || recv_valid;

  myri_net_send #(
      .WIDTH(WIDTH)
  ) u_send (
      .rst,
      .cycle,
      .hold_reset,
      .w_smp,
      .w_sml,
      .w_smlt,
      .w_sa,
      .w_data,
      .smp,
      .sa,
      .set_send,
      .clk(send_clk),
      .crc_enable(tx_crc_enable),
      .limit(send_limit),
      .started(send_started),
      .misuse(send_misuse),
      .sram(tx_sram),
      .sram_gnt(tx_gnt),
      .sram_read(tx_read),
      .out_valid(send_valid),
      .out_ready(send_ready),
      .out_head(send_head),
      .out_data(send_data),
      .trace(trace.send),
      .in_flight(send_in_flight),
      .busy(send_busy)
  );

  myri_net_recv #(
      .WIDTH(WIDTH)
  ) u_recv (
      .rst,
      .cycle,
      .hold_reset,
      .nres_enable,
      .nres_code,
      .w_rmp,
      .w_rml,
      .w_data,
      .rmp,
      .rml,
      .set_head,
      .set_recv,
      .set_buff,
      .set_nres,
      .alarm,
      .clk(recv_clk),
      .crc_enable(rx_crc_enable),
      .cfg_nres_clocks(cfg.nres_clocks),
      .cfg_nres_truncate(cfg.nres_truncate),
      .length(recv_length),
      .orun(recv_orun),
      .truncated(recv_truncated),
      .receiver_reset(recv_reset),
      .lost(recv_lost),
      .sram(rx_sram),
      .sram_gnt(rx_gnt),
      .in_valid(recv_valid),
      .in_ready(recv_ready),
      .in_head(recv_head),
      .in_data(recv_data),
      .trace(trace.recv),
      .busy(recv_busy)
  );

  myri_nic_link #(
      .SLACK_LOG2(SLACK_LOG2),
      .FIFO_LOG2(FIFO_LOG2),
      .WIDTH(WIDTH)
  ) u_link (
      .link_clk,
      .link_gated_clk,
      .link_rst,
      .link_cycle,
      .rx,
      .tx,
      .stop_lasts,
      .cfg,
      .link_trace(trace.link),
      .link_gated_needed,
      .link_sleep,
      .clk,
      .send_clk,
      .recv_clk,
      .rst,
      .send_valid,
      .send_ready,
      .send_head,
      .send_data,
      .recv_valid,
      .recv_ready,
      .recv_head,
      .recv_data,
      .link_event,
      .send_busy(send_crossing),
      .recv_busy(recv_crossing),
      .event_busy(event_needed),
      .busy(side_busy)
  );
endmodule
