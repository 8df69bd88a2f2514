"""Message stages of the FIFO card's driver for reports; with cells, the stages of the last cell."""

from __future__ import annotations

from firmware.shown import WIRE, Boundary, Shown, Waits
from pymodels.trace import Part, TraceEvent

STAGES = (
    Boundary(
        "host_send",
        TraceEvent.PAYLOAD_WRITTEN,
        Part.HOST_CPU,
        0,
        "the CPU of {source} waits for a free buffer and stores {bytes} B, header and payload, into the card",
    ),
    Boundary(
        "host_pointer",
        TraceEvent.POINTER_WRITTEN,
        Part.HOST_CPU,
        0,
        "the CPU of {source} stores the descriptor and writes the buffer number to TX_READY",
    ),
    Boundary(
        "bus_and_turn",
        TraceEvent.TX_START,
        Part.NET_SEND,
        0,
        "the last store crosses the bus, and the card of {source} starts the packet",
        Waits.OWN_PACKETS,
    ),
    *WIRE,
    Boundary(
        "host_notices",
        TraceEvent.POLL_HIT,
        Part.HOST_CPU,
        1,
        "the CPU of {target} finds the packet by polling the card over the bus",
        Waits.PROCESSOR,
    ),
    Boundary(
        "host_takes",
        TraceEvent.HANDLER_START,
        Part.HOST_CPU,
        1,
        "the CPU of {target} loads the packet word by word over the bus and frees its buffer",
    ),
)
SHOWN = Shown(STAGES)
