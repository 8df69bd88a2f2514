"""Report data of VIA: the stages of a message, and the operation of a descriptor."""

from __future__ import annotations

from firmware.shown import BEGINS_REPLY, FETCH, NIC_NOTICES, NIC_SEND, WIRE, Boundary, Shown, Waits
from firmware.via.formats import Control, Kind
from pymodels.trace import Part, TraceEvent

STAGES = (
    Boundary(
        "host_posts",
        TraceEvent.SEND_RETURN,
        Part.HOST_CPU,
        0,
        "the CPU of {source} runs the library and its kernel, and hands the descriptor to the bus",
    ),
    Boundary(
        "bus_and_turn",
        TraceEvent.NIC_NOTICED,
        Part.NIC_CPU,
        0,
        "the descriptor crosses the bus, and waits for its turn at the NIC of {source}",
        Waits.PROCESSOR | Waits.OWN_PACKETS,
    ),
    Boundary(
        "nic_reads_descriptor",
        TraceEvent.NIC_DESCRIPTOR,
        Part.NIC_CPU,
        0,
        "the NIC of {source} reads the descriptor",
    ),
    Boundary(
        "nic_orders_fetch",
        TraceEvent.NIC_DMA_START,
        Part.NIC_CPU,
        0,
        "the NIC of {source} finds the first page and starts the host DMA",
        first=True,
    ),
    Boundary("fetch", TraceEvent.NIC_DMA_DONE, Part.NIC_CPU, 0, FETCH, Waits.DMA, first=True),
    NIC_SEND,
    Boundary(
        "further_packets",
        TraceEvent.NIC_SEND_START,
        Part.NIC_CPU,
        0,
        "the NIC of {source} sends the further packets, each when its data are there",
        Waits.ENGINE,
        optional=True,
    ),
    *WIRE,
    NIC_NOTICES,
    Boundary(
        "nic_receive",
        TraceEvent.NIC_ACCEPT,
        Part.NIC_CPU,
        1,
        "the NIC of {target} checks the packet, finds its buffer, and starts the host DMA",
    ),
    Boundary(
        "to_user_buffer",
        TraceEvent.POLL_HIT,
        Part.HOST_CPU,
        1,
        "the host DMA of {target} moves the rest and the status, which the CPU then sees",
        Waits.PROCESSOR,
    ),
    BEGINS_REPLY,
    Boundary(
        "nic_finishes",
        TraceEvent.NIC_RECV_DONE,
        Part.NIC_CPU,
        1,
        "the NIC of {target} has started all transfers to host memory",
        optional=True,
    ),
)
CONNECTION = "connection message"
"""Operation of the kernel agents' messages, on VI 0."""
OPERATIONS = {Control.RDMA_WRITE: "RDMA write", Control.RDMA_READ: "RDMA read"}
IMMEDIATE = "with immediate data"


def operation_of(argument: int) -> tuple[int, str]:
    """Return VI and operation of NIC_DESCRIPTOR's second argument: control field from bit 8 on, VI below."""
    vi, control = argument & 0xFF, Control(argument >> 8)
    if not vi:
        return vi, CONNECTION
    operation = OPERATIONS.get(control & Control.OPERATION)
    words = ([operation] if operation else []) + ([IMMEDIATE] if control & Control.IMMEDIATE else [])
    return vi, ", ".join(words)


SHOWN = Shown(STAGES, descriptor=operation_of, numbers={"KINDS": Kind})
