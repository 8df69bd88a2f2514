"""Source of a program's random choices: a seed, or hypothesis while it shrinks a program.

A program is determined by a sequence of integers. A seed therefore gives the same program on every machine. Hypothesis
can start with the integers of a failing seed and make them fewer and smaller.
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
    """Return kinds of NIC to choose from for a layer: the default kind `often` times, each other supported kind
    once.
    """
    return (*(DEFAULT_KIND,) * often, *(kind for kind in kinds_of(layer) if kind != DEFAULT_KIND))


def fit(layer: str, options: Mapping[str, Value], nodes: int, nic: str) -> bool:
    """Return True if a layer accepts its options on this number of NICs of a kind."""
    kind = nic_kind(nic)
    try:
        check_options(layer, options, nodes, kind.sram_bytes, kind.card(kind.sram_bytes))
    except SanlabError:
        return False
    return True


class Draw:
    """Random choices from a seed. The least number, the first of several values and an absent item are the simplest
    choices.
    """

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)
        self.numbers: list[int] = []
        """Integers drawn so far."""

    def whole(self, low: int, high: int) -> int:
        """Draw an integer from `low` to `high`, inclusive."""
        number = low + int(self._random.random() * (high - low + 1))
        self.numbers.append(number)
        return number

    def one_of(self, values: Sequence[T]) -> T:
        """Draw one of several values."""
        return values[self.whole(0, len(values) - 1)]

    def once_in(self, times: int) -> bool:
        """Draw a boolean that is True with probability 1 / `times`."""
        return self.whole(0, times - 1) == times - 1

    def items(self, make: Callable[[Draw], T], about: int, most: int) -> list[T]:
        """Draw items, `about` of them on average and at most `most`."""
        found: list[T] = []
        while len(found) < most and self.whole(0, about):
            found.append(self.item(make))
        return found

    def item(self, make: Callable[[Draw], T]) -> T:
        """Draw one item, whose numbers belong together."""
        return make(self)


class Shrinking(Draw):
    """Choices by hypothesis."""

    def __init__(self, draw: Any) -> None:
        super().__init__("")
        self._draw = draw

    def whole(self, low: int, high: int) -> int:
        """See `Draw`."""
        return int(self._draw(st.integers(low, high)))

    def item(self, make: Callable[[Draw], T]) -> T:
        """See `Draw`: hypothesis removes an item as a whole."""
        return self._draw(_drawn(make))  # type: ignore[no-any-return]


@st.composite
def _drawn(draw: Any, make: Callable[[Draw], T]) -> T:
    return make(Shrinking(draw))


def strategy(make: Callable[[Draw], T]) -> st.SearchStrategy[T]:
    """Return the results of `make` as a strategy of hypothesis."""
    return _drawn(make)
