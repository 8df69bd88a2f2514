"""The SRAM monitor on hand-written samples: lanes of one clock edge, equal clock edges, times in ps.

Strategy: the lanes of a clock are written in any order, and only those that change. A write that lasts several clocks
is one sample and several accesses.
"""

from __future__ import annotations

import numpy as np
import pytest

from pymodels.hardware.sram import SramPorts
from tb.monitors.sram import CONTROL, PORT, READ, RECEIVED, SET, WORD, WRITTEN, SramMonitor
from tests.unit.monitors.wires import Store

PERIOD = 7500
PORTS = SramPorts(("pio", "dma", "receive", "send", "processor"), equal=2)
PIO, SEND = 1, 8
"""Sets of one requester."""


def control(address: int, write: bool, requester: int, valid: int = 0, port: int = 0, enables: int = 0xFF) -> list[int]:
    """Return the control lane of a clock with one access, or without any if `requester` is 0."""
    if not requester:
        return [0, valid << 3 * SET]
    access = 1 | write << 1 | address >> 2 << 2 | enables << 2 + WORD
    return [access << PORT * port, requester | requester << SET * (1 + port) | valid << 3 * SET]


def decoded(*records: tuple[int, int, list[int]]) -> SramMonitor:
    """Return a monitor that has decoded samples: clock, lane, two words."""
    store = Store()
    seen = SramMonitor("paris.sram", 8, PERIOD, store, PORTS, 2, 64, True)  # type: ignore[arg-type]
    clocks, lanes = ([record[at] for record in records] for at in (0, 1))
    low, high = (np.array([record[2][word] for record in records], np.uint64) for word in (0, 1))
    store.decode(np.array(clocks, np.int64) * PERIOD, low, high, np.array(lanes, np.int32))
    return seen


@pytest.mark.parametrize("swapped", [False, True])
def test_lanes_of_a_clock_belong_together_in_any_order(swapped: bool) -> None:
    first = [(10, CONTROL, control(0x40, True, PIO)), (10, WRITTEN, [0x0807060504030201, 0])]
    read = [(11, CONTROL, control(0x40, False, SEND)), (11, WRITTEN, [0, 0])]
    arrived = [
        (12, CONTROL, control(0, False, 0, valid=SEND)),
        (12, READ, [0x0807060504030201, 0]),
        (12, RECEIVED, [0x0807060504030201, 0]),
    ]
    groups = [group[::-1] if swapped else group for group in (first, read, arrived)]
    seen = decoded(*[record for group in groups for record in group], (13, CONTROL, [0, 0]), (13, RECEIVED, [0, 0]))
    assert not seen.violations
    written, got = seen.transactions
    assert seen.row(written) == {
        "start_ps": 10 * PERIOD,
        "end_ps": 10 * PERIOD,
        "command": "write",
        "port": "a",
        "requester": "pio",
        "address": 0x40,
        "bytes": 8,
        "data": bytes(range(1, 9)),
        "enables": 0xFF,
        "wait_clocks": 0,
        "conflict": False,
    }
    assert got.data == written.data and seen.row(got)["end_ps"] == 12 * PERIOD and got.requester == "send"


def test_equal_clock_edges_are_an_access_each() -> None:
    seen = decoded((10, CONTROL, control(8, True, PIO, port=0)), (14, CONTROL, [0, 0]))
    assert [one.end for one in seen.transactions] == [10, 11, 12, 13] and not seen.violations


def test_a_violation_has_the_time_of_its_clock() -> None:
    seen = decoded((10, CONTROL, [control(8, True, PIO)[0], PIO << SET]), (11, CONTROL, [0, 0]))
    assert [(one.time, one.rule) for one in seen.violations] == [(10 * PERIOD, "grant of pio without a request")]
