"""SSAM on the RTL: the time of each copy depends on its bytes.

Strategy: one run with messages of several sizes. The stages that copy a message grow with it, by the same time for the
same bytes; those of traps and wires do not. Traps and copies of a message are those of the paper.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from firmware.nics.fifo.cells import PART
from firmware.ssam.host.message import FORMAT
from tests.system.runs import must

HEADER = FORMAT.size
CELLS = ("kernel_sends", "kernel_notices")
"""Stages of one cell each: out of the process, and the cells before the last one."""
SAME = ("bus_and_turn", "send_engine", "wire_and_switch", "reception", "trap_returns")
SIZES = (64, 256, 1024)


def test_stages_that_copy_grow_with_the_message_and_no_others(tmp_path: Path) -> None:
    measured = must("ssam_kernel", "verilator", tmp_path, "repetitions=1 largest=1024").metrics
    assert (measured["traps_per_send"], measured["traps_per_poll"], measured["copies_per_message"]) == (2, 1, 3)
    cells = [-(-(HEADER + size) // PART) for size in SIZES]
    for stage, parts in (*((stage, cells) for stage in CELLS), ("kernel_copies", list(SIZES))):
        small, middle, large = (measured[f"{stage}_us_{size}B"] for size in SIZES)
        share = (parts[2] - parts[1]) / (parts[1] - parts[0])
        assert large - middle == pytest.approx(share * (middle - small), rel=0.1), stage
    for stage in SAME:
        assert measured[f"{stage}_us_1024B"] == pytest.approx(measured[f"{stage}_us_0B"], abs=0.05), stage
