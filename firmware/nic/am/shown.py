"""What tools show of AM: the stages of a message, and the numbers of its dissector."""

from __future__ import annotations

from firmware.nic.am.layout import MOST, NODES, WORDS
from firmware.shown import NIC_NOTICES, NIC_SEND, WIRE, Boundary, Shown, Waits
from pymodels.trace import Part, TraceEvent

STAGES = (
    Boundary(
        "host_send",
        TraceEvent.PAYLOAD_WRITTEN,
        Part.HOST_CPU,
        0,
        "the CPU of {source} checks the message and copies {bytes} B of payload into a send buffer",
    ),
    Boundary(
        "host_descriptor",
        TraceEvent.POINTER_WRITTEN,
        Part.HOST_CPU,
        0,
        "the CPU of {source} hands the descriptor to the bus, word by word",
    ),
    Boundary(
        "bus_and_turn",
        TraceEvent.NIC_NOTICED,
        Part.NIC_CPU,
        0,
        "the descriptor crosses the bus, and the NIC of {source} comes to it when it has room for the payload",
        Waits.PROCESSOR | Waits.OWN_PACKETS | Waits.ENGINE,
    ),
    NIC_SEND,
    *WIRE,
    NIC_NOTICES,
    Boundary(
        "nic_receive",
        TraceEvent.NIC_DMA_START,
        Part.NIC_CPU,
        1,
        "the NIC of {target} starts the host DMA into the receive queue",
    ),
    Boundary(
        "host_notices",
        TraceEvent.POLL_HIT,
        Part.HOST_CPU,
        1,
        "the host DMA of {target} moves the message and the word that tells of it, which the CPU then sees",
        Waits.PROCESSOR | Waits.DMA,
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
