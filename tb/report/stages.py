"""The life of one GRIM message cut into stages: intervals between trace records of that message, nothing left over.

The packet key (GRIM ID, token, sequence) that the hardware carries finds the records; the two host DMAs of a delivery
(message, then back pointer) carry no key and are the next two on the receiving NIC after it started them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pymodels.trace import Part, TraceEvent, unit


@dataclass(frozen=True)
class Boundary:
    """Where a stage ends: the next record of this event at this part of the sending (0) or receiving (1) node."""

    stage: str
    event: TraceEvent
    part: Part
    side: int
    keyed: bool = True


BOUNDARIES = (
    Boundary("host_send", TraceEvent.PAYLOAD_WRITTEN, Part.HOST_CPU, 0),
    Boundary("host_pointer", TraceEvent.POINTER_WRITTEN, Part.HOST_CPU, 0),
    Boundary("bus_and_channel_search", TraceEvent.NIC_NOTICED, Part.NIC_CPU, 0),
    Boundary("nic_send", TraceEvent.NIC_SEND_START, Part.NIC_CPU, 0),
    Boundary("send_engine", TraceEvent.TX_HEAD, Part.LINK, 0),
    Boundary("wire_and_switch", TraceEvent.RX_HEAD, Part.LINK, 1),
    Boundary("reception", TraceEvent.RX_TAIL, Part.NET_RECV, 1),
    Boundary("nic_notices", TraceEvent.NIC_RECV_START, Part.NIC_CPU, 1),
    Boundary("nic_receive", TraceEvent.NIC_DMA_START, Part.NIC_CPU, 1),
    Boundary("dma_message", TraceEvent.DMA_DONE, Part.HOST_DMA, 1, keyed=False),
    Boundary("dma_back_pointer", TraceEvent.DMA_DONE, Part.HOST_DMA, 1, keyed=False),
    Boundary("host_notices", TraceEvent.POLL_HIT, Part.HOST_CPU, 1),
    Boundary("host_dispatch", TraceEvent.HANDLER_START, Part.HOST_CPU, 1),
)


def grim_stages(trace: NDArray[np.void], nodes: tuple[int, int], sent_ps: int) -> list[tuple[str, int]]:
    """The stages of the message that node `nodes[0]` began to send to `nodes[1]` at `sent_ps`, in picoseconds.

    `trace`: records in time order, shape (n,). Their sum is the time from `send` to the handler's start. Empty when
    there is no such message. Raises LookupError naming the stage without an end (more than one packet, or lost).
    """
    begin = int(np.searchsorted(trace["time"], sent_ps))
    at = _next(trace, begin, unit(nodes[0], Part.HOST_CPU), TraceEvent.SEND_CALL, None)
    if at is None or trace["time"][at] != sent_ps:
        return []
    key = int(trace["packet"][at])
    stages = []
    for boundary in BOUNDARIES:
        end = _next(
            trace, at + 1, unit(nodes[boundary.side], boundary.part), boundary.event, key if boundary.keyed else None
        )
        if end is None:
            raise LookupError(
                f"message {key:#010x} sent at {sent_ps / 1e6:.3f} us: stage {boundary.stage!r} has no end in the trace"
            )
        stages.append((boundary.stage, int(trace["time"][end] - trace["time"][at])))
        at = end
    return stages


def _next(trace: NDArray[np.void], begin: int, owner: int, event: TraceEvent, key: int | None) -> int | None:
    """Index of the first record from `begin` on that matches; None when there is none. Looks in growing windows."""
    window = 1024
    while begin < len(trace):
        part = trace[begin : begin + window]
        match = (part["unit"] == owner) & (part["event"] == event)
        if key is not None:
            match &= part["packet"] == key
        found = np.flatnonzero(match)
        if len(found):
            return begin + int(found[0])
        begin, window = begin + window, window * 4
    return None
