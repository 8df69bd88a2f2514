"""Call stack of a NIC's processor, reconstructed from trace records of calls, returns and inline code."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import takewhile
from typing import NamedTuple

from pymodels.lanai.program import Place


class Slice(NamedTuple):
    """Interval in which a function was active, including its callees."""

    place: Place
    begin: int
    end: int


class Calls:
    """Active functions of one processor, outermost first."""

    def __init__(self) -> None:
        self._open: list[tuple[Place, int]] = []
        """Active functions with their start times."""

    def go_on(self, time: int, places: tuple[Place, ...], begins: bool) -> Iterator[Slice]:
        """Continue at another place and yield the functions that have ended, innermost first.

        A function that is already active ends its callees, so recursion is not distinguished. `begins` is True at the
        first instruction of a function.
        """
        there = [place for place, _ in self._open]
        base = len(there) if begins else 0
        if places[0] in there:
            base = len(there) - 1 - there[::-1].index(places[0])
        pairs: Iterable[tuple[Place, Place]] = () if begins else zip(there[base:], places, strict=False)
        same = len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))
        yield from self.end(time, base + same)
        self._open += [(place, time) for place in places[same:]]

    def end(self, time: int, kept: int = 0) -> Iterator[Slice]:
        """End all functions except the outermost `kept`, and yield them."""
        while len(self._open) > kept:
            place, begin = self._open.pop()
            yield Slice(place, begin, time)
