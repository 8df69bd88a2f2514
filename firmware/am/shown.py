"""What tools show of AM: the stages of a message, and the numbers of its dissector."""

from __future__ import annotations

from firmware.am.nic.layout import MOST, NODES, WORDS
from firmware.shown import WIRE, Boundary, Shown, brought, ordered
from pymodels.trace import Part, TraceEvent

STAGES = (
    *ordered(
        "the CPU of {source} checks the message and copies {bytes} B of payload into a send buffer",
        "the CPU of {source} hands the descriptor to the bus, word by word",
        "descriptor",
        "payload",
        names=("host_send", "host_descriptor"),
    ),
    *WIRE,
    *brought(
        "the NIC of {target} starts the host DMA into the receive queue",
        "the host DMA of {target} moves the message and the word that tells of it, which the CPU then sees",
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
