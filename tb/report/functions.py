"""The functions that a NIC's processor was in, out of records of where it went on: calls, returns, inline code."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import takewhile
from typing import NamedTuple

from pymodels.lanai.program import Place


class Slice(NamedTuple):
    """From when to when a function ran, with all that it called."""

    place: Place
    begin: int
    end: int


class Calls:
    """The functions of one processor that have begun and not ended, the outermost first."""

    def __init__(self) -> None:
        self._open: list[tuple[Place, int]] = []
        """Each with its start."""

    def go_on(self, time: int, places: tuple[Place, ...], begins: bool) -> Iterator[Slice]:
        """It goes on in another place; `begins`: at the first instruction of the function. Yields what has ended, the
        innermost first. A function that is there already ends what it called; so recursion is not told apart.
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
        """All but the outermost few end."""
        while len(self._open) > kept:
            place, begin = self._open.pop()
            yield Slice(place, begin, time)
