"""Common time of the clocks of a board.

A board counts the edges of each of its clocks. Time is that of the NIC's clock: its count times its period. The counts
of the other clocks are converted by samples in which all counters were latched at one moment. A straight line through
the samples gives rate and offset of a clock, so that an interval within one clock keeps its number of periods.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from pymodels.board.map import Clock

ENOUGH = 1 << 16
"""Edges between the first and the last sample from which their line is more exact than the nominal rate."""
LATE: Mapping[Clock, float] = MappingProxyType({Clock.BUS: 0.0, Clock.NIC: 2.5, Clock.LINK: 2.5})
"""Mean number of own clocks from a write of LATCH to the edge whose index is latched. That is the third edge after the
write (`hdl/board/myri_board_cycle.sv`), and the first edge is half a clock after it on average.
"""
KEPT = 4096
"""Maximum number of samples; then every second one is dropped."""


class Timebase:
    """Conversion of the counters of a board to picoseconds.

    Args:
        periods: Nominal period of each clock in ps.
    """

    def __init__(self, periods: Mapping[Clock, int]) -> None:
        self.periods = dict(periods)
        self._samples: list[tuple[int, ...]] = []

    def sample(self, counts: Mapping[Clock, int]) -> int:
        """Take the counters of one moment into account, and return its time in ps."""
        if len(self._samples) >= KEPT:
            del self._samples[1:-1:2]
        self._samples.append(tuple(counts[clock] for clock in Clock))
        return counts[Clock.NIC] * self.periods[Clock.NIC]

    def line(self, clock: Clock) -> tuple[float, float]:
        """Return period and offset in ps of a clock: the time of its edge `n` is `n * period + offset`."""
        period = float(self.periods[clock])
        if clock is Clock.NIC or not self._samples:
            return period, 0.0
        counts = np.array(self._samples, np.float64)
        own = counts[:, clock] - LATE[clock]
        reference = (counts[:, Clock.NIC] - LATE[Clock.NIC]) * self.periods[Clock.NIC]
        if np.ptp(own) >= ENOUGH:
            period = float(np.cov(own, reference)[0, 1] / np.var(own, ddof=1))
        return period, float(np.mean(reference - own * period))
