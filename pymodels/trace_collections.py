"""Trace bundles that only hardware modules pass on: parts of a bundle, and collections of bundles."""

from __future__ import annotations

COLLECTIONS = """\
  // Traces of parts whose signals a bundle above collects.
  typedef struct packed {
    logic doorbell;  // a doorbell entry is stored
    logic [31:0] addr;  // its address, also when it is dropped
    logic [31:0] data;  // its data
  } bell_trace_t;
  typedef struct packed {
    logic head;  // first byte of a packet was sent `ago` edges ago
    logic tail;  // the packet's GAP was sent
    logic [31:0] key;  // packet key, with both
    logic [31:0] ago;  // with head
  } tx_trace_t;
  typedef struct packed {
    logic head;  // first byte of a packet arrived `ago` edges ago
    logic tail;  // the packet's GAP arrived
    logic [31:0] key;  // packet key, with both
    logic [31:0] ago;  // with head
    logic [31:0] bytes;  // with tail: bytes, CRC character included
    logic [7:0] syndrome;  // with tail: CRC-8 syndrome
  } rx_trace_t;
  // Traces of modules that have several parts.
  typedef struct packed {
    send_trace_t send;  // clk
    recv_trace_t recv;  // clk
    link_trace_t link;  // link_clk
  } net_trace_t;  // packet interface
  typedef struct packed {
    dma_trace_t dma;  // clk
    pio_trace_t pio;  // clk
  } host_trace_t;  // host side
  typedef struct packed {
    net_trace_t  net;
    host_trace_t host;
    nic_status_t status;  // clk
  } nic_trace_t;  // NIC
"""
"""Declarations at the end of `hdl/nic/common/myri_nic_trace_pkg.sv`."""
