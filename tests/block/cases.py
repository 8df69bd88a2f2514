"""Cases of a bench: every combination on Verilator; on Icarus as few as have each value once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import cocotb


def cases(**axes: Sequence[object]) -> Callable[[Any], Any]:
    """`cocotb.parametrize` for a test whose cases are crossed.

    Icarus is there for what Verilator cannot show: values that are unknown, and processes in another order. A test
    shows these in any of its cases, and takes five to ten times as long there.
    """
    if "Icarus" not in getattr(cocotb, "SIM_NAME", ""):
        return cocotb.parametrize(**axes)
    return cocotb.parametrize((tuple(axes), few(*axes.values())))


def few(*axes: Sequence[object]) -> list[tuple[object, ...]]:
    """As few combinations as have each value of each axis at least once."""
    return [tuple(values[i % len(values)] for values in axes) for i in range(max(map(len, axes)))]
