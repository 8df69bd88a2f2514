"""Collector of trace events against a model.

Strategy: three sources with random strobes, and a reader that stalls. Each record must be that of the event which found
room, with its cycle. The numbers of lost events must add up to those that found none.
"""

from __future__ import annotations

import random
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge

SOURCES = 3
EVENT = {"code": 16, "unit": 20, "packet": 32, "argument": 32, "argument2": 32, "ago": 32}
"""Fields of board_event_t and their bits."""
RECORD = {"cycle": 48, "clock": 2, "lost": 8, "code": 16, "unit": 20, "packet": 32, "argument": 32, "argument2": 32}
"""Fields of board_record_t and their bits."""


def split(number: int) -> dict[str, int]:
    fields = {}
    for name, bits in reversed(RECORD.items()):
        fields[name] = number & (1 << bits) - 1
        number >>= bits
    return fields


@cocotb.test(timeout_time=5, timeout_unit="ms")
@cocotb.parametrize(strobes=[0.05, 0.5], reads=[1.0, 0.3])
async def records_are_those_of_their_events_and_losses_are_counted(dut: Any, strobes: float, reads: float) -> None:
    rng = random.Random(cocotb.RANDOM_SEED)
    Clock(dut.clk, 10, unit="ns", impl="gpi").start(start_high=False)
    for name in ("strobe", "events", "out_ready", "cycle"):
        dut[name].value = 0
    dut.rst.value = 1
    await ClockCycles(dut.clk, 3)
    dut.rst.value = 0
    offered: list[list[dict[str, int]]] = [[] for _ in range(SOURCES)]
    taken: list[list[dict[str, int]]] = [[] for _ in range(SOURCES)]
    for cycle in range(800):
        running = cycle < 780
        number = 0
        fired = [running and rng.random() < strobes for _ in range(SOURCES)]
        for source in reversed(range(SOURCES)):
            one = {name: rng.getrandbits(bits) for name, bits in EVENT.items()}
            one |= {"unit": source, "ago": rng.randrange(50)}
            for name, bits in EVENT.items():
                number = number << bits | one[name]
            if fired[source]:
                offered[source].append({**one, "cycle": (1000 + cycle - one["ago"])})
        dut.strobe.value = sum(1 << i for i, fire in enumerate(fired) if fire)
        ready = not running or rng.random() < reads
        dut.events.value, dut.out_ready.value, dut.cycle.value = number, int(ready), 1000 + cycle
        await RisingEdge(dut.clk)
        if int(dut.out_valid.value) and int(dut.out_ready.value):
            record = split(int(dut.out_record.value))
            taken[record["unit"]].append(record)
    for sent, got in zip(offered, taken, strict=True):
        assert got, "each source has its turn"
        at = 0
        for record in got:
            at += record["lost"]
            assert {name: record[name] for name in ("cycle", "packet", "argument", "argument2", "code")} == {
                name: sent[at][name] for name in ("cycle", "packet", "argument", "argument2", "code")
            }
            assert record["clock"] == 1
            at += 1
        assert at <= len(sent)
