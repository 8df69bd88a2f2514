"""Division of a message's life into stages: contiguous intervals between its trace records.

Each stage ends at a record, where the next one begins, so the stages of a message add up to its latency exactly. A long
message is divided along its last piece, for which its handler waits; everything before is sending by the host. Where
work overlaps (the host DMA of a long message begins while it arrives), a stage counts only time not in earlier stages.
The layer defines the stages (`firmware.shown`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from firmware.shown import UNTIL_SEEN, Boundary
from pymodels.trace import Part, unit
from tb.report.life import Life, Mark, Piece
from tb.report.lives import Lives
from tb.report.recorded import BOARD, Legend
from tb.report.wire import rows


class Stage(NamedTuple):
    """Interval of a message's life, in ps."""

    boundary: Boundary
    """Definition of the stage and its end."""
    begin: int
    end: int

    @property
    def name(self) -> str:
        """Name of the stage."""
        return self.boundary.stage

    @property
    def part(self) -> Part:
        """Part whose record ends the stage."""
        return self.boundary.part

    @property
    def side(self) -> int:
        """Side of the wire: 0 sender, 1 receiver."""
        return self.boundary.side

    @property
    def duration(self) -> int:
        """Duration in ps."""
        return self.end - self.begin


def stages_of(life: Life) -> list[Stage]:
    """Return the stages of an arrived message in order; empty before arrival.

    A boundary without a record leaves its time to the next stage. Time after the last record is `until_seen`, so that
    the sum is always the latency.
    """
    end = life.arrived
    if end is None or life.target is None:
        return []
    piece, at, found = life.pieces[-1], life.sent, []
    for boundary in life.shown.stages:
        time = _time(piece, boundary, unit((life.node, life.target)[boundary.side], boundary.part), end)
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


def names_of_pc(stages: Sequence[Stage], legend: Legend) -> frozenset[str]:
    """Return the names of the stages that begin or end at a record of the PC; empty for a simulation.

    On a board, host software runs on the PC. The time of its records includes the PC's work and the serial line.
    """
    if legend.place != BOARD:
        return frozenset()
    begins = (True, *(stage.part is Part.HOST_CPU for stage in stages))
    return frozenset(one.name for one, begun in zip(stages, begins, strict=False) if begun or one.part is Part.HOST_CPU)


def _time(piece: Piece, boundary: Boundary, owner: int, end: int) -> int | None:
    """Return the time at which a boundary was passed, or None without a record.

    Records after the end of the message, of retransmissions that were not needed, count only if there are no others.
    """
    if boundary.block:
        return max((end for moved, _, end in piece.dma if moved == boundary.block), default=None)
    marks = piece.marks if boundary.first else reversed(piece.marks)
    times = [mark[0] for mark in marks if _is(mark, boundary, owner)]
    return next((time for time in times if time <= end), times[0] if times else None)


def _is(mark: Mark, boundary: Boundary, owner: int) -> bool:
    return mark[2] == boundary.event and mark[1] == owner


def stages_at(trace: NDArray[np.void], legend: Legend, node: int, sent_ps: int) -> list[tuple[str, int]]:
    """Return names and durations in ps of the stages of the message that a node began to send at `sent_ps`.

    The result is empty without such a message. Records are read only until the message has arrived, so the network
    should be quiet at that time.

    Args:
        trace: Records in time order, shape (n,).
        legend: Legend of the trace.
        node: Sending node.
        sent_ps: Time of the send call in ps.

    Raises:
        LookupError: The message never arrives.
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
