    // Trace outputs of a NIC, field by field, because cocotb sees a struct as one number.
    output logic tr_tx_start,  // clk: a packet was started ...
    output logic [31:0] tr_tx_start_ago,  // ... this many edges ago
    output logic [23:0] tr_tx_start_at,  // SRAM address of its first byte
    output logic [31:0] tr_tx_start_key,  // packet key
    output logic tr_tx_read,  // clk: its last byte was passed to the link side
    output logic [31:0] tr_tx_read_key,  // packet key
    output logic [31:0] tr_tx_read_bytes,  // bytes of the packet, route included
    output logic tr_rx_first,  // clk: the first word of a packet is stored (HEAD)
    output logic [31:0] tr_rx_first_key,  // packet key
    output logic [23:0] tr_rx_first_at,  // SRAM address of that word
    output logic tr_rx_done,  // clk: its tail is stored (RECV)
    output logic [31:0] tr_rx_done_key,  // packet key
    output logic [31:0] tr_rx_done_bytes,  // bytes stored, syndrome included
    output logic [7:0] tr_rx_done_syndrome,  // CRC-8 syndrome, 0 = good
    output logic tr_tx_head,  // link_clk: first byte of a packet was sent tr_tx_ago edges ago
    output logic tr_tx_tail,  // link_clk: its GAP was sent
    output logic [31:0] tr_tx_key,  // packet key, with both
    output logic [31:0] tr_tx_ago,  // with tr_tx_head
    output logic tr_rx_head,  // link_clk: first byte of a packet arrived tr_rx_ago edges ago
    output logic tr_rx_tail,  // link_clk: its GAP arrived
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
    output logic st_beat_missed,  // link_clk: level: the last BEAT due is missing
    output logic st_link_down,  // link_clk: level: three BEATs in a row are missing
    output logic [7:0] st_fill,  // link_clk: slack fill
