"""Trace records of one part of a node and of an interval."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pymodels.trace import Part, TraceEvent, unit
from tb.lab.lab import Lab

Records = NDArray[np.void]
"""Trace records in time order, shape (n,)."""


def since(lab: Lab, begun: int) -> Records:
    """Return the trace records from the time `begun` (ps) on."""
    trace = lab.trace()
    return trace[trace["time"] >= begun]


def times(trace: Records, node: int, part: Part, event: TraceEvent) -> NDArray[np.int64]:
    """Return the times at which an event occurred at a part of a node, in ps, ascending; shape (n,)."""
    chosen: NDArray[Any] = (trace["unit"] == unit(node, part)) & (trace["event"] == event)
    return np.sort(trace["time"][chosen])
