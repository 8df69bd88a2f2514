"""Message stages of HAL for reports, and constants of its dissector."""

from __future__ import annotations

from firmware.hal.nic.layout import MOST
from firmware.shown import WIRE, Boundary, Shown, receive_stages, send_stages
from pymodels.trace import Part, TraceEvent

STAGES = (
    *send_stages(
        "the CPU of {source} copies {bytes} B, header and data, into a send buffer",
        "the CPU of {source} stores the order over the bus",
        "order",
        "packet",
    ),
    *WIRE,
    *receive_stages(
        "the NIC of {target} chooses a receive buffer and starts the host DMA",
        "the host DMA of {target} stores the packet and its valid word, and the CPU's poll finds it",
    ),
    Boundary(
        "host_dispatch",
        TraceEvent.HANDLER_START,
        Part.HOST_CPU,
        1,
        "the CPU of {target} calls the handler of the packet's protocol",
    ),
)
SHOWN = Shown(STAGES, numbers={"MOST": MOST})
