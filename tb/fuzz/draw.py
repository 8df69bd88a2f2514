"""Where the numbers of a program come from: a seed, or hypothesis when it shrinks one.

A program is drawn as a row of whole numbers, and by nothing else. So a seed is the same program on every machine, and
hypothesis can begin with the numbers of a seed that failed and make them fewer and smaller.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from hypothesis import strategies as st

from firmware.layers import check_options
from pymodels.errors import SanlabError
from pymodels.hardware.compiled import kinds_of
from pymodels.hardware.discover import nic_kind
from pymodels.profiles import DEFAULT_KIND
from tb.fuzz.program import Value

T = TypeVar("T")


def nics(layer: str, often: int) -> tuple[str, ...]:
    """Kinds of NIC to draw one of for a layer: the one that is taken where nobody says, so many times as often as each
    of the others that its firmware runs on.
    """
    return (*(DEFAULT_KIND,) * often, *(kind for kind in kinds_of(layer) if kind != DEFAULT_KIND))


def fit(layer: str, options: Mapping[str, Value], nodes: int, nic: str) -> bool:
    """Whether a layer takes its options on so many NICs of a kind."""
    kind = nic_kind(nic)
    try:
        check_options(layer, options, nodes, kind.sram_bytes, kind.card(kind.sram_bytes))
    except SanlabError:
        return False
    return True


class Draw:
    """Draws from a seed. The least number, the first of several and an absent item are the simplest."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)
        self.numbers: list[int] = []
        """What was drawn so far."""

    def whole(self, low: int, high: int) -> int:
        """A whole number, both ends included."""
        number = low + int(self._random.random() * (high - low + 1))
        self.numbers.append(number)
        return number

    def one_of(self, values: Sequence[T]) -> T:
        """One of several values."""
        return values[self.whole(0, len(values) - 1)]

    def once_in(self, times: int) -> bool:
        """True once in so many times."""
        return self.whole(0, times - 1) == times - 1

    def items(self, make: Callable[[Draw], T], about: int, most: int) -> list[T]:
        """Items, `about` so many on average and never more than `most`."""
        found: list[T] = []
        while len(found) < most and self.whole(0, about):
            found.append(self.item(make))
        return found

    def item(self, make: Callable[[Draw], T]) -> T:
        """One item: numbers that belong together."""
        return make(self)


class Shrinking(Draw):
    """Draws from hypothesis."""

    def __init__(self, draw: Any) -> None:
        super().__init__("")
        self._draw = draw

    def whole(self, low: int, high: int) -> int:
        """See `Draw`."""
        return int(self._draw(st.integers(low, high)))

    def item(self, make: Callable[[Draw], T]) -> T:
        """See `Draw`: hypothesis leaves an item out as a whole."""
        return self._draw(_drawn(make))  # type: ignore[no-any-return]


@st.composite
def _drawn(draw: Any, make: Callable[[Draw], T]) -> T:
    return make(Shrinking(draw))


def strategy(make: Callable[[Draw], T]) -> st.SearchStrategy[T]:
    """What `make` draws, as a strategy of hypothesis."""
    return _drawn(make)
