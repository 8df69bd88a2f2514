"""Parameters of LogGP from round trips, measured like netgauge's pattern `loggp` (Hoefler, Mehlan, Mehlan, Lumsdaine,
Rehm: Low-Overhead LogGP Parameter Assessment for Modern Interconnection Networks, IPDPS 2007).

PRTT(n, d, s) is the time in which n messages of s bytes are sent, with a delay d between them, and one returns:

    o_s(s) = (PRTT(n, d, s) - PRTT(1, 0, s)) / (n - 1) - d,  where d = PRTT(1, 0, s) is more than any gap
    g + (s - 1) G = (PRTT(n, 0, s) - PRTT(1, 0, s)) / (n - 1),  a line over all s
    o_r(s) is the time of a receive whose message has already arrived

LogGOPSim has one overhead for both ends and an overhead per byte (Hoefler, Schneider, Lumsdaine: LogGOPSim, HPDC 2010):
o is the mean of both at one byte, O the slope of o_s. L is the rest of half a round trip of the shortest message. Times
are in picoseconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np


@dataclass(frozen=True)
class Rounds:
    """Measured round trips with messages of one size."""

    size: int
    """Message size in bytes, 1 or more."""
    count: int
    """Number n of messages in a burst."""
    delay: float
    """Delay d between the messages."""
    single: float
    """PRTT(1, 0, s)."""
    burst: float
    """PRTT(n, 0, s)."""
    spaced: float
    """PRTT(n, d, s)."""
    o_r: float

    @property
    def o_s(self) -> float:
        """Send overhead of the host."""
        return (self.spaced - self.single) / (self.count - 1) - self.delay

    @property
    def gap(self) -> float:
        """Time between two messages of a burst: g + (s - 1) G."""
        return (self.burst - self.single) / (self.count - 1)


@dataclass(frozen=True)
class LogGP:
    """LogGP parameters, in picoseconds."""

    L: float
    o_s: float
    """Send overhead at one byte, like `o_r`."""
    o_r: float
    g: float
    G: float
    """Gap per byte."""
    O: float  # noqa: E741 - its name in the model
    """Overhead per byte."""
    misfit: float
    """Residual of the line through the measured gaps: root mean square with two degrees of freedom removed."""

    @property
    def o(self) -> float:
        """Overhead of one end: the mean of send and receive overhead."""
        return (self.o_s + self.o_r) / 2


@dataclass(frozen=True)
class Line:
    """Straight line fitted by least squares."""

    at_one: float
    """Value of the line at one byte."""
    slope: float
    misfit: float


def line(sizes: Sequence[int], values: Sequence[float]) -> Line:
    """Fit a line through values over sizes in bytes. Raises ValueError for fewer than two sizes."""
    if len(set(sizes)) < 2:
        raise ValueError(f"a line through {len(set(sizes))} sizes: measure two at least")
    beyond = np.array(sizes, float) - 1
    slope, at_one = np.polyfit(beyond, np.array(values, float), 1)
    left = np.array(values) - (at_one + slope * beyond)
    degrees = len(sizes) - 2
    misfit = sqrt(float(left @ left) / degrees) if degrees else 0.0
    return Line(float(at_one), float(slope), misfit)


def fitted(rounds: Sequence[Rounds]) -> LogGP:
    """Return the parameters fitted to measurements with several sizes."""
    sizes = [one.size for one in rounds]
    sends, receives, gaps = (
        line(sizes, values)
        for values in ([one.o_s for one in rounds], [one.o_r for one in rounds], [one.gap for one in rounds])
    )
    shortest = min(rounds, key=lambda one: one.size)
    o = sends.at_one + receives.at_one
    bytes_after = (shortest.size - 1) * max(gaps.slope, sends.slope)
    latency = shortest.single / 2 - o - bytes_after
    return LogGP(latency, sends.at_one, receives.at_one, gaps.at_one, gaps.slope, sends.slope, gaps.misfit)
