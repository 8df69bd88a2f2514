// An event sets its own flags and no others: an arbitrary bit `k` of either word is followed. A network time-out that
// truncates a packet or resets the receiver is reported with the others.
// prove: bounded 1
(* anyconst *) logic [4:0] k;
logic isr_bit, error_bit;

always_comb begin
  assume (set_nres || !(recv_truncated || recv_reset));
  case (32'(k))
    myri_lanai9_pkg::ISR_HEAD, myri_lanai9_pkg::ISR_DATA_RECEIVED: isr_bit = set_head;
    myri_lanai9_pkg::ISR_RECV: isr_bit = set_recv;
    myri_lanai9_pkg::ISR_BUFF: isr_bit = set_buff;
    myri_lanai9_pkg::ISR_SEND: isr_bit = set_send;
    myri_lanai9_pkg::ISR_WAKE0: isr_bit = bell_wake;
    myri_lanai9_pkg::ISR_WAKE1: isr_bit = set_wake[0];
    myri_lanai9_pkg::ISR_WAKE2: isr_bit = set_wake[1];
    myri_lanai9_pkg::ISR_NRES: isr_bit = set_nres;
    myri_lanai9_pkg::ISR_DATA_SENT: isr_bit = link_event.sent;
    myri_lanai9_pkg::ISR_ILLEGAL_RECEIVED: isr_bit = link_event.illegal && illegal_enable;
    myri_lanai9_pkg::ISR_TX_BLOCKED: isr_bit = link_event.forward_reset;
    myri_lanai9_pkg::ISR_BEAT_RECEIVED: isr_bit = link_event.beat && beat_enable;
    myri_lanai9_pkg::ISR_BEAT_MISSED: isr_bit = link_event.missed && beat_enable;
    myri_lanai9_pkg::ISR_LINK_DOWN: isr_bit = link_event.down;
    myri_lanai9_pkg::ISR_DOORBELL_OVERFLOW: isr_bit = status.doorbell_overflow;
    myri_lanai9_pkg::ISR_DMA_ERROR: isr_bit = status.dma_error;
    myri_lanai9_pkg::ISR_NET_ERROR: isr_bit = status.send_misuse || recv_truncated;
    default: isr_bit = 1'b0;
  endcase
  case (32'(k))
    myri_lanai9_pkg::ERR_SEND_MISUSE: error_bit = status.send_misuse;
    myri_lanai9_pkg::ERR_RX_TRUNCATED: error_bit = recv_truncated;
    myri_lanai9_pkg::ERR_RX_RESET: error_bit = recv_reset;
    myri_lanai9_pkg::ERR_PIO_MISUSE: error_bit = status.pio_misuse;
    myri_lanai9_pkg::ERR_DMA0, myri_lanai9_pkg::ERR_DMA1, myri_lanai9_pkg::ERR_DMA2, myri_lanai9_pkg::ERR_DMA3:
    error_bit = status.dma_error && myri_lanai9_pkg::ERR_DMA0 + 32'(dma_chain) == 32'(k);
    myri_lanai9_pkg::ERR_DOORBELL_OVERFLOW: error_bit = status.doorbell_overflow;
    default: error_bit = 1'b0;
  endcase
  assert (set_isr[k] == isr_bit && set_errors[k] == error_bit);
end
