"""EPOS's stages for trace tools, and the numbers of its dissector."""

from __future__ import annotations

from firmware.epos.nic.pointcuts import PROTOCOLS
from firmware.epos.nic.words import CONTROL, DATA, NODES
from firmware.shown import NIC_NOTICES, NIC_SEND, WIRE, Boundary, Shown, Waits
from pymodels.trace import Part, TraceEvent

STAGES = (
    Boundary(
        "host_send",
        TraceEvent.PAYLOAD_WRITTEN,
        Part.HOST_CPU,
        0,
        "the CPU of {source} builds the header of the frame once the Send Ring has room",
        Waits.ENGINE,
    ),
    Boundary(
        "host_stores",
        TraceEvent.POINTER_WRITTEN,
        Part.HOST_CPU,
        0,
        "the CPU of {source} writes the frame, or the control block of its DMA, and the doorbell to the bus",
    ),
    Boundary(
        "bus_and_turn",
        TraceEvent.NIC_NOTICED,
        Part.NIC_CPU,
        0,
        "the doorbell crosses the bus, and the NIC of {source} processes it",
        Waits.PROCESSOR,
    ),
    NIC_SEND,
    *WIRE,
    NIC_NOTICES,
    Boundary(
        "nic_receive",
        TraceEvent.NIC_DMA_START,
        Part.NIC_CPU,
        1,
        "the NIC of {target} finds the staging slot, waits until it is free, and starts the host DMA",
        Waits.PROCESSOR,
    ),
    Boundary(
        "host_notices",
        TraceEvent.POLL_HIT,
        Part.HOST_CPU,
        1,
        "the host DMA of {target} moves the payload, its NIC writes an entry of the Rx FIFO Queue, the CPU reads it",
        Waits.PROCESSOR | Waits.DMA,
    ),
    Boundary(
        "host_takes",
        TraceEvent.HANDLER_START,
        Part.HOST_CPU,
        1,
        "the CPU of {target} identifies the message that the frame completes",
    ),
    Boundary(
        "host_copies",
        TraceEvent.HANDLER_END,
        Part.HOST_CPU,
        1,
        "the CPU of {target} copies the message out of its staging slot",
    ),
)
SHOWN = Shown(
    STAGES,
    numbers={
        "DATA": DATA,
        "CONTROL": CONTROL,
        "NODES": NODES,
        **{f"HAS_{one.name.upper()}": 1 << bit for bit, one in enumerate(PROTOCOLS)},
    },
)
