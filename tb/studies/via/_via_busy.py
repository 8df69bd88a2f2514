"""Utilisation of the NICs during a stream, from the trace: processors, and DMA between NIC and host."""

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
    """Return the percentage of an interval (ps) in which a NIC's processor worked, and in which its DMA was active."""
    return {
        name: 100 * _covered(_spans(trace, unit(node, part), start, end), begun, ended) / (ended - begun)
        for name, (part, start, end) in PARTS.items()
    }


def _spans(trace: NDArray[np.void], where: int, start: TraceEvent, end: TraceEvent) -> list[tuple[int, int]]:
    """Return (begin, end) of each activity of a unit, pairing each begin with the next end."""
    mine = trace[trace["unit"] == where]
    begins, ends = (np.sort(mine["time"][mine["event"] == event]) for event in (start, end))
    begins = begins[: len(ends)]
    return [(int(a), int(b)) for a, b in zip(begins, ends[: len(begins)], strict=True)]


def _covered(spans: list[tuple[int, int]], begun: int, ended: int) -> int:
    """Return the time of an interval that is covered by at least one span; spans may overlap."""
    total, at = 0, begun
    for start, end in sorted(spans):
        low, high = max(start, at), min(end, ended)
        if high > low:
            total += high - low
            at = high
    return total


def limits(lab: Any, near: int, far: int, begun: int, ended: int) -> None:
    """Record the utilisation of both sides in an interval, and the ratio of the receiver's maximum to the sender's.

    A ratio above 1 means that the receive side limits the rate.
    """
    trace = lab.trace()
    most = {}
    for side, node in (("send", near), ("receive", far)):
        found = busy_percent(trace, node, begun, ended)
        for name, percent in found.items():
            lab.metric(f"{name}_busy_percent_{side}", percent)
        most[side] = max(found.values())
    lab.metric("receive_busy_over_send_busy", most["receive"] / most["send"] if most["send"] else 0.0)
