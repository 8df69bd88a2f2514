"""How busy the NICs of a stream were, from the trace: their processors, and their transfers to and from the host."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pymodels.trace import Part, TraceEvent, unit

PARTS = {
    "processor": (Part.NIC_CPU, TraceEvent.WORK_START, TraceEvent.WORK_END),
    "dma": (Part.HOST_DMA, TraceEvent.DMA_START, TraceEvent.DMA_DONE),
}


def busy_percent(trace: NDArray[np.void], node: int, begun: int, ended: int) -> dict[str, float]:
    """Percent of an interval (ps) in which the processor of a NIC worked, and in which it moved data over its bus."""
    return {
        name: 100 * _covered(_spans(trace, unit(node, part), start, end), begun, ended) / (ended - begun)
        for name, (part, start, end) in PARTS.items()
    }


def _spans(trace: NDArray[np.void], where: int, start: TraceEvent, end: TraceEvent) -> list[tuple[int, int]]:
    """(begin, end) of what a unit did: each begin with the next end."""
    mine = trace[trace["unit"] == where]
    begins, ends = (np.sort(mine["time"][mine["event"] == event]) for event in (start, end))
    begins = begins[: len(ends)]
    return [(int(a), int(b)) for a, b in zip(begins, ends[: len(begins)], strict=True)]


def _covered(spans: list[tuple[int, int]], begun: int, ended: int) -> int:
    """Time of an interval that lies in any of the spans; they may overlap."""
    total, at = 0, begun
    for start, end in sorted(spans):
        low, high = max(start, at), min(end, ended)
        if high > low:
            total += high - low
            at = high
    return total


def limits(lab: Any, near: int, far: int, begun: int, ended: int) -> None:
    """Hand in how busy both sides were in an interval, and by how much the busiest of the receiver exceeds the
    sender's: above 1 the receive side limits.
    """
    trace = lab.trace()
    most = {}
    for side, node in (("send", near), ("receive", far)):
        found = busy_percent(trace, node, begun, ended)
        for name, percent in found.items():
            lab.metric(f"{name}_busy_percent_{side}", percent)
        most[side] = max(found.values())
    lab.metric("receive_busy_over_send_busy", most["receive"] / most["send"] if most["send"] else 0.0)
