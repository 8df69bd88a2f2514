"""Message stages of AM for reports, and constants of its dissector."""

from __future__ import annotations

from firmware.am.nic.layout import MOST, NODES, WORDS
from firmware.shown import WIRE, Boundary, Shown, receive_stages, send_stages
from pymodels.trace import Part, TraceEvent

STAGES = (
    *send_stages(
        "the CPU of {source} checks the message and copies {bytes} B of payload into a send buffer",
        "the CPU of {source} stores the descriptor over the bus, word by word",
        "descriptor",
        "payload",
        names=("host_send", "host_descriptor"),
    ),
    *WIRE,
    *receive_stages(
        "the NIC of {target} starts the host DMA into the receive queue",
        "the host DMA of {target} stores the message and its valid word, and the CPU's poll finds it",
    ),
    Boundary(
        "host_dispatch",
        TraceEvent.HANDLER_START,
        Part.HOST_CPU,
        1,
        "the CPU of {target} calls the handler whose address the message holds",
    ),
)
SHOWN = Shown(STAGES, numbers={"MOST": MOST, "NODES": NODES, "MESSAGE": 4 * WORDS})
