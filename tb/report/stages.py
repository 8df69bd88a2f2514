"""The life of one message cut into stages: intervals between trace records of that message, nothing left over.

Each stage ends at a record; the next begins there. So the stages of a message add up to its latency exactly, and every
time in them is a time of the trace. A long message is cut along its last piece, the one that its handler waits for:
what came before is the host's sending. Where work overlaps (the host DMA of a long message begins while it arrives), a
stage counts only what the stages before it have not. Which stages there are says the layer (`firmware.shown`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from firmware.shown import UNTIL_SEEN, Boundary
from pymodels.trace import Part, unit
from tb.report.life import Life, Mark, Piece
from tb.report.lives import Lives
from tb.report.recorded import Legend
from tb.report.wire import rows


class Stage(NamedTuple):
    """One interval of a message's life, in picoseconds."""

    boundary: Boundary
    """Where it ends, and what happens in it."""
    begin: int
    end: int

    @property
    def name(self) -> str:
        """What it is called."""
        return self.boundary.stage

    @property
    def part(self) -> Part:
        """At whose record it ends."""
        return self.boundary.part

    @property
    def side(self) -> int:
        """On which side of the wire: 0 sender, 1 receiver."""
        return self.boundary.side

    @property
    def duration(self) -> int:
        """Picoseconds."""
        return self.end - self.begin


def stages_of(life: Life) -> list[Stage]:
    """The stages of a message that has arrived, in order; none of one that has not.

    A boundary that the message has no record of leaves its time to the next stage. What the records do not reach is
    `until_seen`: their sum is the latency, always.
    """
    end = life.arrived
    if end is None or life.target is None:
        return []
    piece, at, found = life.pieces[-1], life.sent, []
    for boundary in life.shown.stages:
        time = _time(piece, boundary, unit((life.node, life.target)[boundary.side], boundary.part))
        if time is None:
            continue
        time = min(max(time, at), end)
        if boundary.optional and time == at:
            continue
        found.append(Stage(boundary, at, time))
        at = time
    if at < end:
        found.append(Stage(UNTIL_SEEN, at, end))
    return found


def _time(piece: Piece, boundary: Boundary, owner: int) -> int | None:
    """When a boundary was passed; None when there is no such record."""
    if boundary.block:
        return max((end for moved, _, end in piece.dma if moved == boundary.block), default=None)
    marks = piece.marks if boundary.first else reversed(piece.marks)
    return next((mark[0] for mark in marks if _is(mark, boundary, owner)), None)


def _is(mark: Mark, boundary: Boundary, owner: int) -> bool:
    return mark[2] == boundary.event and mark[1] == owner


def stages_at(trace: NDArray[np.void], legend: Legend, node: int, sent_ps: int) -> list[tuple[str, int]]:
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
