"""Marks of tests for runs on netlists.

A netlist is made as for an FPGA, whose clocks run all the time: timers count edges. A test whose subject is a clock
that skips edges is marked `sleeping_clocks`. A test that reads or changes a register inside of the hardware is marked
`inside_hardware`. Both are set apart where the block is a netlist.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

CELLS = "SANLAB_NETLIST"
"""Environment variable with the kind of cells of a run on netlists."""
Test = Callable[..., Coroutine[Any, Any, None]]


def on_netlist() -> bool:
    """Return True if the blocks of hardware are netlists."""
    return CELLS in os.environ


def sleeping_clocks(axis: str = "") -> Callable[[Test], Test]:
    """Mark a test of clocks that skip edges.

    Args:
        axis: Parameter that is true in the cases in which they do; empty: in all cases.
    """
    return lambda test: _apart(test, axis, "sleeping: hardware counts edges, and its clocks run all the time")


def inside_hardware(test: Test) -> Test:
    """Mark a test that reads or changes a register or memory inside of the hardware by its name."""
    return _apart(test, "", "inside: a netlist has not all names of the RTL")


def _apart(test: Test, axis: str, reason: str) -> Test:
    @functools.wraps(test)
    async def either(dut: Any, **values: Any) -> None:
        if on_netlist() and (not axis or values[axis]):
            pytest.skip(reason)
        await test(dut, **values)

    return either
