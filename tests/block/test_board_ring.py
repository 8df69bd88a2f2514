"""Trace ring of a board against a list.

Strategy: random records arrive with gaps, more than the ring holds, in both modes. Its rows must be the newest or the
oldest records, word by word as `pymodels.board.ring` reads them, and `written` must count all.
"""

from __future__ import annotations

import random
from typing import Any

import cocotb
import numpy as np
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge

from pymodels.board.map import RING_WORDS
from pymodels.board.map import Clock as BoardClock
from pymodels.board.ring import lost, records

ROWS = 16
FIELDS = {"cycle": 48, "clock": 2, "lost": 8, "code": 16, "unit": 20, "packet": 32, "argument": 32, "argument2": 32}
"""Fields of board_record_t and their bits."""


def packed(record: dict[str, int]) -> int:
    number = 0
    for name, bits in FIELDS.items():
        number = number << bits | record[name]
    return number


async def row(dut: Any, number: int) -> list[int]:
    words = []
    for word in range(RING_WORDS):
        dut.read_row.value, dut.read_word.value = number, word
        await ClockCycles(dut.clk, 2)
        words.append(int(dut.read_data.value))
    return words


@cocotb.test(timeout_time=5, timeout_unit="ms")
@cocotb.parametrize(stop=[0, 1], count=[5, ROWS, 3 * ROWS + 5])
async def the_ring_holds_the_newest_or_the_oldest_records(dut: Any, stop: int, count: int) -> None:
    rng = random.Random(cocotb.RANDOM_SEED)
    Clock(dut.clk, 10, unit="ns", impl="gpi").start(start_high=False)
    for name in ("in_valid", "in_record", "read_row", "read_word", "clear"):
        dut[name].value = 0
    dut.rst.value, dut.record.value, dut.stop.value = 1, 1, stop
    await ClockCycles(dut.clk, 3)
    dut.rst.value = 0
    sent: list[dict[str, int]] = []
    while len(sent) < count:
        one = {name: rng.getrandbits(bits) for name, bits in FIELDS.items()} | {"clock": rng.randrange(3)}
        valid = rng.random() < 0.7
        dut.in_valid.value, dut.in_record.value = int(valid), packed(one)
        await RisingEdge(dut.clk)
        if valid:
            sent.append(one)
    dut.in_valid.value = 0
    await ClockCycles(dut.clk, 2)
    assert int(dut.written.value) == count
    kept = sent[:ROWS] if stop else sent[-ROWS:]
    first = 0 if stop else max(0, count - ROWS)
    words = np.array([await row(dut, (first + i) % ROWS) for i in range(len(kept))], np.uint32)
    made = records(words, dict.fromkeys(BoardClock, 1))
    expected = sorted(kept, key=lambda one: one["cycle"])
    for name in ("unit", "packet", "argument"):
        assert made[name].tolist() == [one[name] for one in expected]
    assert made["event"].tolist() == [one["code"] for one in expected]
    assert made["time"].tolist() == [one["cycle"] for one in expected]
    assert lost(words) == sum(one["lost"] for one in kept)
    dut.clear.value = 1
    await RisingEdge(dut.clk)
    dut.clear.value = 0
    await ClockCycles(dut.clk, 2)
    assert int(dut.written.value) == 0
