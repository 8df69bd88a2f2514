"""FIFO card on the RTL. The card has no processor and so no class of verbs."""

from __future__ import annotations

from tb.nics.view import BUS, FLOW, MEMORY, PORT, View, below, places

CARD = (
    ("fifo.cells", ""),
    ("fifo.u_send.state_q", "fifo_send"),
    ("fifo.tx_level", ""),
    ("fifo.out_level", ""),
    ("fifo.free_level", ""),
    ("fifo.ready_level", ""),
    ("fifo.in_level", ""),
    ("fifo.u_regs.errors_q", ""),
    ("fifo.u_pci.u_card.u_device.u_target.state_q", "pci_target"),
)
WAVES = View(
    BUS,
    (*CARD, ("clk", ""), *MEMORY),
    PORT + below("fifo.u_link", FLOW),
    {"fifo_send": "nic/fifo/myri_fifo_card_send"},
    places=places("fifo", "u_send", "u_receive", "u_host", "u_link"),
)
