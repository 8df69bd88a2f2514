"""Message stages of HPAM for reports, and constants of its dissector."""

from __future__ import annotations

from firmware.hpam.host.message import FORMAT, TYPE
from firmware.shown import WIRE, Boundary, Shown, Waits
from pymodels.trace import Part, TraceEvent

STAGES = (
    Boundary(
        "host_send",
        TraceEvent.PAYLOAD_WRITTEN,
        Part.HOST_CPU,
        0,
        "the CPU of {source} stores {bytes} B, header and payload, into a buffer of the card",
    ),
    Boundary(
        "host_pointer",
        TraceEvent.POINTER_WRITTEN,
        Part.HOST_CPU,
        0,
        "the CPU of {source} stores the descriptor and writes the buffer number to TX_READY",
    ),
    Boundary(
        "card",
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
        "the active process of {target} polls the card over the bus and reads the header",
        Waits.PROCESSOR,
    ),
    Boundary(
        "host_takes",
        TraceEvent.HANDLER_START,
        Part.HOST_CPU,
        1,
        "the CPU of {target} loads the message word by word, or the daemon moves it, and the handler is called",
    ),
)
SHOWN = Shown(STAGES, numbers={"TYPE": TYPE, "HEADER": FORMAT.size})
