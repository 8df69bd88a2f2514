"""What tools show of HPAM: the stages of a message, and the numbers of its dissector."""

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
        "the CPU of {source} stores the descriptor, and the number of the buffer into TX_READY",
    ),
    Boundary(
        "card",
        TraceEvent.TX_START,
        Part.NET_SEND,
        0,
        "the last store crosses the bus, and the card of {source} comes to the buffer",
        Waits.OWN_PACKETS,
    ),
    *WIRE,
    Boundary(
        "host_notices",
        TraceEvent.POLL_HIT,
        Part.HOST_CPU,
        1,
        "the process of {target} that has the card looks at it over the bus, and reads the header",
        Waits.PROCESSOR,
    ),
    Boundary(
        "host_takes",
        TraceEvent.HANDLER_START,
        Part.HOST_CPU,
        1,
        "the CPU of {target} loads it word by word, or the daemon brings it to its process; the handler is called",
    ),
)
SHOWN = Shown(STAGES, numbers={"TYPE": TYPE, "HEADER": FORMAT.size})
