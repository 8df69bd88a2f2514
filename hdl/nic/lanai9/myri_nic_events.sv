// Collector of the NIC's events into the words that set ISR and ERRORS (bits: pymodels/registers.py).
//
// Timing: combinational; every input is a strobe of the NIC clock.
module myri_nic_events
  import myri_nic_engines_pkg::*;
  import myri_nic_trace_pkg::*;
  import myri_lanai9_pkg::*;
(
    input  logic               set_head,        // strobe: first word of a packet stored
    input  logic               set_recv,        // tail stored
    input  logic               set_buff,        // no room for the next word
    input  logic               set_send,        // send limit reached
    input  logic               set_nres,        // network time-out
    input  logic               recv_truncated,  // time-out: packet truncated
    input  logic               recv_reset,      // time-out: receiver reset
    input  logic               bell_wake,       // doorbell entry stored
    input  logic        [ 1:0] set_wake,        // DMA blocks with WAKE, chains 3:2 and 1:0
    input  link_event_t        link_event,      // events of the link
    input  logic               illegal_enable,  // MYRINET bit
    input  logic               beat_enable,     // MYRINET bit
    input  nic_status_t        status,          // clk: error indications
    input  logic        [ 1:0] dma_chain,       // ... this chain
    output logic        [31:0] set_isr,         // bits of ISR
    output logic        [31:0] set_errors       // bits of ERRORS
);
  logic event_any;
  assign event_any = set_head || set_recv || set_buff || set_send || set_nres || recv_reset || bell_wake ||
      set_wake != 2'd0 || link_event != '0 ||
      status.doorbell_overflow || status.dma_error || status.send_misuse || status.pio_misuse;

  // The words are not built without an event: they are then event_any, which is 0, because a constant 0 would become a
  // mask over them. (Each is assigned once, so that Icarus sees no glitches.)
  always_comb begin
    if (event_any) begin
      set_isr = ({31'd0, set_head} << ISR_HEAD) |
          ({31'd0, set_recv} << ISR_RECV) |
          ({31'd0, set_buff} << ISR_BUFF) |
          ({31'd0, set_send} << ISR_SEND) |
          ({31'd0, bell_wake} << ISR_WAKE0) |
          ({31'd0, set_wake[0]} << ISR_WAKE1) |
          ({31'd0, set_wake[1]} << ISR_WAKE2) |
          ({31'd0, set_nres} << ISR_NRES) |
          ({31'd0, set_head} << ISR_DATA_RECEIVED) |
          ({31'd0, link_event.sent} << ISR_DATA_SENT) |
          ({31'd0, link_event.illegal && illegal_enable} << ISR_ILLEGAL_RECEIVED) |
          ({31'd0, link_event.forward_reset} << ISR_TX_BLOCKED) |
          ({31'd0, link_event.beat && beat_enable} << ISR_BEAT_RECEIVED) |
          ({31'd0, link_event.missed && beat_enable} << ISR_BEAT_MISSED) |
          ({31'd0, link_event.down} << ISR_LINK_DOWN) |
          ({31'd0, status.doorbell_overflow} << ISR_DOORBELL_OVERFLOW) |
          ({31'd0, status.dma_error} << ISR_DMA_ERROR) |
          ({31'd0, status.send_misuse || recv_truncated} << ISR_NET_ERROR);
      set_errors = ({31'd0, status.send_misuse} << ERR_SEND_MISUSE) |
          ({31'd0, recv_truncated} << ERR_RX_TRUNCATED) |
          ({31'd0, recv_reset} << ERR_RX_RESET) |
          ({31'd0, status.pio_misuse} << ERR_PIO_MISUSE) |
          ({28'd0, {status.dma_error, 3'b000} >> (2'd3 - dma_chain)} << ERR_DMA0) |
          ({31'd0, status.doorbell_overflow} << ERR_DOORBELL_OVERFLOW);
    end else begin
      set_isr = {31'd0, event_any};
      set_errors = {31'd0, event_any};
    end
  end
endmodule
