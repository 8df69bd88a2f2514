"""Cases of a bench: every combination on Verilator; on Icarus as few as have each value once, and a part of traffic."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import cocotb

Value = TypeVar("Value")
PART = 3
"""Of so many values, or of so much random traffic, Icarus has one."""
EVERY = "SANLAB_EVERY_CASE"
"""The variable that asks for all on Icarus, too."""


def cases(**axes: Sequence[object]) -> Callable[[Any], Any]:
    """`cocotb.parametrize` for a test whose cases are crossed.

    Icarus is there for what Verilator cannot show: values that are unknown, and processes in another order. A test
    shows these in any of its cases, and takes five to ten times as long there.
    """
    if not in_part():
        return cocotb.parametrize(**axes)
    return cocotb.parametrize((tuple(axes), few(*axes.values())))


def in_part() -> bool:
    """Whether the bench runs on Icarus, and is not asked for all there: a mutant is tried where builds are quick."""
    return "Icarus" in getattr(cocotb, "SIM_NAME", "") and EVERY not in os.environ


def some(values: Sequence[Value]) -> Sequence[Value]:
    """All of them; on Icarus the first third, one at least, for the same reason."""
    return values[: max(1, len(values) // PART)] if in_part() else values


def few(*axes: Sequence[object]) -> list[tuple[object, ...]]:
    """As few combinations as have each value of each axis at least once."""
    return [tuple(values[i % len(values)] for values in axes) for i in range(max(map(len, axes)))]
