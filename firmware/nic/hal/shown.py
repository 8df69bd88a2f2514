"""What tools show of HAL: the stages of a packet."""

from __future__ import annotations

from firmware.nic.hal.layout import MOST
from firmware.shown import NIC_NOTICES, NIC_SEND, WIRE, Boundary, Shown, Waits
from pymodels.trace import Part, TraceEvent

STAGES = (
    Boundary(
        "host_send",
        TraceEvent.PAYLOAD_WRITTEN,
        Part.HOST_CPU,
        0,
        "the CPU of {source} copies {bytes} B, header and data, into a send buffer",
    ),
    Boundary(
        "host_order",
        TraceEvent.POINTER_WRITTEN,
        Part.HOST_CPU,
        0,
        "the CPU of {source} hands the order to the bus",
    ),
    Boundary(
        "bus_and_turn",
        TraceEvent.NIC_NOTICED,
        Part.NIC_CPU,
        0,
        "the order crosses the bus, and the NIC of {source} comes to it when it has room for the packet",
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
        "the NIC of {target} finds a receive buffer, and starts the host DMA",
    ),
    Boundary(
        "host_notices",
        TraceEvent.POLL_HIT,
        Part.HOST_CPU,
        1,
        "the host DMA of {target} moves the packet and the word that tells of it, which the CPU then sees",
        Waits.PROCESSOR | Waits.DMA,
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
