  // Assignments of the ports of sim_trace_ports.svh.
  assign {
    tr_tx_start,
    tr_tx_start_ago,
    tr_tx_start_at,
    tr_tx_start_key,
    tr_tx_read,
    tr_tx_read_key,
    tr_tx_read_bytes
  } = send_trace;
  assign {
    tr_rx_first,
    tr_rx_first_key,
    tr_rx_first_at,
    tr_rx_done,
    tr_rx_done_key,
    tr_rx_done_bytes,
    tr_rx_done_syndrome
  } = recv_trace;
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
