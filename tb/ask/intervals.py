"""Intervals between the occurrences of two conditions, and their distribution."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tb.ask.conditions import Condition
from tb.ask.waveform import Signal, Times

NEVER = np.iinfo(np.int64).max
"""End of an interval that does not end."""
BINS = 12
"""Maximum number of rows of a histogram."""


@dataclass(frozen=True)
class Intervals:
    """Intervals in the order of their start times. All arrays have shape (n,)."""

    begin: Times
    end: Times
    """End times; NEVER if the interval has no end."""
    left: NDArray[np.bool_]
    """True where the interval has no end because the surrounding period ended first."""
    keys: tuple[str, ...] = ()
    """Key of the start of each interval; empty without keys."""
    outside: int = 0
    """Number of occurrences of the first condition outside the surrounding periods."""

    @property
    def ended(self) -> NDArray[np.bool_]:
        """True where an interval has an end."""
        return np.not_equal(self.end, NEVER)

    @property
    def lengths(self) -> Times:
        """Lengths of the intervals that have an end."""
        return self.end[self.ended] - self.begin[self.ended]

    def groups(self) -> Iterator[tuple[str, Intervals]]:
        """Yield the intervals of each key, in the order of the keys' first intervals."""
        keys = np.array(self.keys, dtype=object)
        for key in dict.fromkeys(self.keys):
            of_key = keys == key
            yield key, Intervals(self.begin[of_key], self.end[of_key], self.left[of_key])


def intervals(
    start: Condition,
    stop: Condition,
    within: Condition | None = None,
    each: Signal | None = None,
    each_stop: Signal | None = None,
) -> Intervals:
    """Return each interval from an occurrence of one condition to the next occurrence of another.

    The end is at the same time or later; strictly later if both conditions are on one signal. If both conditions have
    keys, an interval ends at the next occurrence with the key of its start.

    Args:
        start: Condition at whose occurrences intervals begin.
        stop: Condition at whose occurrences intervals end.
        within: Condition that holds from begin to end of each interval; None: no such condition.
        each: Signal whose value at the start is the key of an interval; None: no keys.
        each_stop: Signal whose value at an occurrence of `stop` is its key; None: the keys of `stop` are unknown, and
            an interval ends at the next occurrence.
    """
    begin, stops = start.occurrences(), stop.occurrences()
    outside, limits = 0, np.full(len(begin), NEVER)
    if within:
        opened, closed = within.periods()
        period = np.searchsorted(opened, begin, side="right") - 1
        inside = (period >= 0) & (begin < np.append(closed, 0)[period])
        outside = int(np.count_nonzero(~inside))
        begin, limits = begin[inside], closed[period[inside]]
    keys = keys_at(each, begin) if each else ()
    later = begin + (start.signal.wire == stop.signal.wire)
    end = _ends(later, stops)
    if each_stop:
        of_begin, of_stop = np.array(keys, object), np.array(keys_at(each_stop, stops), object)
        for key in set(keys):
            place = of_begin == key
            end[place] = _ends(later[place], stops[of_stop == key])
    left = end > limits
    return Intervals(begin, np.where(left, NEVER, end), left, keys, outside)


def _ends(later: Times, stops: Times) -> Times:
    """Return the first stop at or after each time; NEVER without one."""
    return np.append(stops, NEVER)[np.searchsorted(stops, later)]


def keys_at(signal: Signal, at: Times) -> tuple[str, ...]:
    """Return the value of a signal at each time as text; empty before its first value.

    A text that becomes empty at that time counts with its previous value, since what ends at that time belongs to it.
    """
    times, values = signal.changes
    places = np.searchsorted(times, at, side="right") - 1
    emptied = [
        place > 0 and values[place] == "" and times[place] == time for place, time in zip(places, at, strict=True)
    ]
    places = places - np.array(emptied, int)
    return tuple(signal.shown(values[place]) if place >= 0 else "" for place in places)


@dataclass(frozen=True)
class Spread:
    """Distribution of intervals; lengths are in units of the file, and 0 without intervals."""

    count: int
    minimum: float
    median: float
    p99: float
    """Smallest length that at least 99 % of the intervals do not exceed."""
    maximum: float
    endless: int
    """Number of further intervals without an end."""


def spread(some: Intervals) -> Spread:
    """Return the distribution of intervals."""
    lengths = some.lengths
    endless = len(some.begin) - len(lengths)
    if not len(lengths):
        return Spread(0, 0, 0, 0, 0, endless)
    p99 = float(np.percentile(lengths, 99, method="inverted_cdf"))
    return Spread(len(lengths), float(lengths.min()), float(np.median(lengths)), p99, float(lengths.max()), endless)


def histogram(lengths: Times) -> list[tuple[int, int, int]]:
    """Return lower bound, upper bound and count of each bin; only the last bin contains its upper bound.

    Up to BINS different lengths have a bin each, with equal bounds.
    """
    different, counts = np.unique(lengths, return_counts=True)
    if len(different) <= BINS:
        return [(int(length), int(length), int(count)) for length, count in zip(different, counts, strict=True)]
    edges = np.linspace(different[0], different[-1], BINS + 1).astype(np.int64)
    counts = np.histogram(lengths, edges)[0]
    return [(int(a), int(b), int(n)) for a, b, n in zip(edges[:-1], edges[1:], counts, strict=True)]
