"""The life of one message cut into stages: intervals between trace records of that message, nothing left over.

Each stage ends at a record; the next begins there. So the stages of a message add up to its latency exactly, and every
time in them is a time of the trace. A long message is cut along its last piece, the one that its handler waits for:
what came before is the host's sending. Where work overlaps (the host DMA of a long message begins while it arrives), a
stage counts only what the stages before it have not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pymodels.trace import Part, TraceEvent, unit
from tb.report.life import Life, Mark, Piece
from tb.report.lives import Lives
from tb.report.recorded import Legend
from tb.report.wire import rows


@dataclass(frozen=True)
class Boundary:
    """Where a stage ends: at this event of this part of the sending (0) or receiving (1) node."""

    stage: str
    event: TraceEvent
    part: Part
    side: int
    first: bool = False
    """At its first record; otherwise at its last (a message that was refused is sent again)."""
    block: str = ""
    """Of a host DMA: which blocks."""
    optional: bool = False
    """Stands only where it has taken time."""


class Stage(NamedTuple):
    """One interval of a message's life, in picoseconds, on which side of the wire (0 sender, 1 receiver)."""

    name: str
    begin: int
    end: int
    part: Part
    side: int

    @property
    def duration(self) -> int:
        """Picoseconds."""
        return self.end - self.begin


ON_THE_WAY = (
    Boundary("send_engine", TraceEvent.TX_HEAD, Part.LINK, 0),
    Boundary("wire_and_switch", TraceEvent.RX_HEAD, Part.LINK, 1),
    Boundary("reception", TraceEvent.RX_TAIL, Part.NET_RECV, 1),
    Boundary("nic_notices", TraceEvent.NIC_RECV_START, Part.NIC_CPU, 1),
)
BOUNDARIES = (
    Boundary("host_send", TraceEvent.PAYLOAD_WRITTEN, Part.HOST_CPU, 0),
    Boundary("host_pointer", TraceEvent.POINTER_WRITTEN, Part.HOST_CPU, 0),
    Boundary("bus_and_channel_search", TraceEvent.NIC_NOTICED, Part.NIC_CPU, 0),
    Boundary("fetch", TraceEvent.DMA_DONE, Part.HOST_DMA, 0, block="fetch"),
    Boundary("nic_send", TraceEvent.NIC_SEND_START, Part.NIC_CPU, 0, first=True),
    Boundary("refused_and_sent_again", TraceEvent.NIC_SEND_START, Part.NIC_CPU, 0, optional=True),
    *ON_THE_WAY,
    Boundary("nic_receive", TraceEvent.NIC_DMA_START, Part.NIC_CPU, 1),
    Boundary("dma_message", TraceEvent.DMA_DONE, Part.HOST_DMA, 1, block="message"),
    Boundary("dma_back_pointer", TraceEvent.DMA_DONE, Part.HOST_DMA, 1, block="pointer"),
    Boundary("host_notices", TraceEvent.POLL_HIT, Part.HOST_CPU, 1),
    Boundary("host_dispatch", TraceEvent.HANDLER_START, Part.HOST_CPU, 1),
    Boundary("card_takes", TraceEvent.CARD_TAKE, Part.FPGA, 1),
    Boundary("nic_begins_reply", TraceEvent.NIC_REPLY, Part.NIC_CPU, 1, optional=True),
    Boundary("nic_copies", TraceEvent.NIC_COPY, Part.NIC_CPU, 1, optional=True),
    Boundary("nic_sees_end", TraceEvent.NIC_DMA_DONE, Part.NIC_CPU, 1, optional=True),
)
POSTED = (
    Boundary("host_posts", TraceEvent.SEND_RETURN, Part.HOST_CPU, 0),
    Boundary("bus_and_turn", TraceEvent.NIC_NOTICED, Part.NIC_CPU, 0),
    Boundary("nic_reads_descriptor", TraceEvent.NIC_DESCRIPTOR, Part.NIC_CPU, 0),
    Boundary("nic_orders_fetch", TraceEvent.NIC_DMA_START, Part.NIC_CPU, 0, first=True),
    Boundary("fetch", TraceEvent.NIC_DMA_DONE, Part.NIC_CPU, 0, first=True),
    Boundary("nic_send", TraceEvent.NIC_SEND_START, Part.NIC_CPU, 0, first=True),
    Boundary("further_packets", TraceEvent.NIC_SEND_START, Part.NIC_CPU, 0, optional=True),
    *ON_THE_WAY,
    Boundary("nic_receive", TraceEvent.NIC_ACCEPT, Part.NIC_CPU, 1),
    Boundary("to_user_buffer", TraceEvent.POLL_HIT, Part.HOST_CPU, 1),
    Boundary("nic_begins_reply", TraceEvent.NIC_REPLY, Part.NIC_CPU, 1, optional=True),
    Boundary("nic_finishes", TraceEvent.NIC_RECV_DONE, Part.NIC_CPU, 1, optional=True),
)
"""Of a message that began as a descriptor (VIA)."""


def stages_of(life: Life) -> list[Stage]:
    """The stages of a message that has arrived, in order; none of one that has not.

    A boundary that the message has no record of leaves its time to the next stage. What the records do not reach is
    `until_seen`: their sum is the latency, always.
    """
    end = life.arrived
    if end is None or life.target is None:
        return []
    piece, at, found = life.pieces[-1], life.sent, []
    for boundary in POSTED if life.posted else BOUNDARIES:
        time = _time(piece, boundary, unit((life.node, life.target)[boundary.side], boundary.part))
        if time is None:
            continue
        time = min(max(time, at), end)
        if boundary.optional and time == at:
            continue
        found.append(Stage(boundary.stage, at, time, boundary.part, boundary.side))
        at = time
    if at < end:
        found.append(Stage("until_seen", at, end, Part.HOST_CPU, 1))
    return found


def _time(piece: Piece, boundary: Boundary, owner: int) -> int | None:
    """When a boundary was passed; None when there is no such record."""
    if boundary.block:
        return max((end for moved, _, end in piece.dma if moved == boundary.block), default=None)
    marks = piece.marks if boundary.first else reversed(piece.marks)
    return next((mark[0] for mark in marks if _is(mark, boundary, owner)), None)


def _is(mark: Mark, boundary: Boundary, owner: int) -> bool:
    return mark[2] == boundary.event and mark[1] == owner


def grim_stages(trace: NDArray[np.void], legend: Legend, node: int, sent_ps: int) -> list[tuple[str, int]]:
    """The stages of the message that a node began to send at `sent_ps`, in picoseconds; empty when there is none.

    `trace`: records in time order, shape (n,). Only what follows is read, until the message has arrived, so the network
    should be quiet at that time. Raises LookupError when the message never arrives.
    """
    lives, begin, window = Lives(legend), int(np.searchsorted(trace["time"], sent_ps)), 1024
    while begin < len(trace):
        lives.take_all(rows(trace[begin : begin + window]))
        life = next((life for life in lives.lives if (life.node, life.sent) == (node, sent_ps)), None)
        if life is None:
            return []
        if life.arrived is not None:
            return [(stage.name, stage.duration) for stage in stages_of(life)]
        begin += window
    if not lives.lives:
        return []
    raise LookupError(f"the message sent at {sent_ps / 1e6:.3f} us by node {node} never arrives in the trace")
