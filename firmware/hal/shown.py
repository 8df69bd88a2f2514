"""What tools show of HAL: the stages of a packet."""

from __future__ import annotations

from firmware.hal.nic.layout import MOST
from firmware.shown import WIRE, Boundary, Shown, brought, ordered
from pymodels.trace import Part, TraceEvent

STAGES = (
    *ordered(
        "the CPU of {source} copies {bytes} B, header and data, into a send buffer",
        "the CPU of {source} hands the order to the bus",
        "order",
        "packet",
    ),
    *WIRE,
    *brought(
        "the NIC of {target} finds a receive buffer, and starts the host DMA",
        "the host DMA of {target} moves the packet and the word that tells of it, which the CPU then sees",
    ),
    Boundary(
        "host_dispatch",
        TraceEvent.HANDLER_START,
        Part.HOST_CPU,
        1,
        "the CPU of {target} finds the layer that has the packet's protocol",
    ),
)
SHOWN = Shown(STAGES, numbers={"MOST": MOST})
