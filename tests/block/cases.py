"""Cases of a bench: all combinations on Verilator; on Icarus a minimal set with each value, and part of the traffic."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import cocotb

Value = TypeVar("Value")
PART = 3
"""Divisor of the values and of the random traffic on Icarus."""
EVERY = "SANLAB_EVERY_CASE"
"""Environment variable that requests all cases on Icarus, too."""


def cases(**axes: Sequence[object]) -> Callable[[Any], Any]:
    """Parametrize a test like `cocotb.parametrize` with crossed axes.

    Icarus covers what Verilator cannot show: unknown values, and another order of processes. Any case of a test shows
    these, and a case takes five to ten times as long there.
    """
    if not in_part():
        return cocotb.parametrize(**axes)
    return cocotb.parametrize((tuple(axes), few(*axes.values())))


def in_part() -> bool:
    """Return True if the bench runs on Icarus with reduced cases.

    False if all cases are requested, as for mutants, which run on the simulator with the faster build.
    """
    return "Icarus" in getattr(cocotb, "SIM_NAME", "") and EVERY not in os.environ


def some(values: Sequence[Value]) -> Sequence[Value]:
    """Return all values; on Icarus only the first third, at least one."""
    return values[: max(1, len(values) // PART)] if in_part() else values


def few(*axes: Sequence[object]) -> list[tuple[object, ...]]:
    """Return a minimal set of combinations that contains each value of each axis."""
    return [tuple(values[i % len(values)] for values in axes) for i in range(max(map(len, axes)))]
