"""Level-sensitive interrupts, on the kernel alone and on the machine with every kind of NIC.

Strategy: a line is asserted and released at every picosecond around each step of the rule. The steps are the rise, the
end of the latency, and begin and end of the interrupt routine. The expected services are computed by hand. On the
machine the NIC asserts its interrupt while the host clears it (`tests/interrupt_rounds.py`).
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from pymodels.host.interrupts import InterruptLine
from pymodels.kernel import Kernel
from pymodels.machine import Machine, Timing
from tests.interrupt_rounds import FifoCard, LanaiCard, MaskedLanaiCard, Rounds, SpCard

LATENCY, ROUTINE = 40, 20
"""Picoseconds."""


class Bench:
    """A line, and an interrupt routine that takes ROUTINE ps and releases the line after `release` ps of them."""

    def __init__(self, release: int | None = None) -> None:
        self.kernel, self.started, self.release = Kernel(), list[int](), release
        self.draws = 0
        self.line = InterruptLine(self.kernel, self.kernel.spawn, self.draw)

    def draw(self) -> int:
        self.draws += 1
        return LATENCY

    async def serve(self) -> None:
        self.started.append(self.kernel.now)
        if self.release is not None:
            self.kernel.at(self.kernel.now + self.release, lambda: self.line.change(False))
        await self.kernel.sleep(ROUTINE)

    def drive(self, *changes: tuple[int, bool]) -> None:
        for time, held in changes:
            self.kernel.at(time, lambda held=held: self.line.change(held))  # type: ignore[misc]


def test_a_line_that_is_held_is_served_again_and_again() -> None:
    bench = Bench()
    bench.line.serve_by(bench.serve)
    bench.drive((101, True), (401, False))
    bench.kernel.run()
    assert bench.started[0] == 101 + LATENCY
    assert all(
        after - before in range(LATENCY + ROUTINE, LATENCY + ROUTINE + 3) for before, after in pairwise(bench.started)
    )
    assert len(bench.started) == 300 // (LATENCY + ROUTINE)


def test_a_routine_that_is_registered_late_serves_a_line_that_is_held() -> None:
    bench = Bench(release=4)
    bench.drive((101, True))
    bench.kernel.at(301, lambda: bench.line.serve_by(bench.serve))
    bench.kernel.run()
    assert bench.started == [301 + LATENCY]


@pytest.mark.parametrize("fall", range(103, 107 + LATENCY, 2))
def test_a_line_that_is_released_within_the_latency_is_not_served(fall: int) -> None:
    bench = Bench(release=4)
    bench.line.serve_by(bench.serve)
    bench.drive((101, True), (fall, False))
    bench.kernel.run()
    assert bench.started == ([101 + LATENCY] if fall > 101 + LATENCY else [])


@pytest.mark.parametrize("gap", range(2, LATENCY + 8, 2))
def test_the_latency_restarts_at_the_next_rising_edge(gap: int) -> None:
    bench = Bench(release=4)
    bench.line.serve_by(bench.serve)
    bench.drive((101, True), (111, False), (111 + gap, True))
    bench.kernel.run()
    assert bench.started == [111 + gap + LATENCY]
    assert bench.draws == 1, "an early release draws no random number"


@pytest.mark.parametrize("release", range(2, 2 * ROUTINE, 2))
def test_no_rise_is_lost_at_any_time_relative_to_the_release(release: int) -> None:
    """Expect a service after each rise, without overlap."""
    for rise in range(2, 3 * ROUTINE, 2):
        bench = Bench(release=release)
        bench.line.serve_by(bench.serve)
        first = 101 + LATENCY
        bench.drive((101, True), (first + release + rise, True))
        bench.kernel.run()
        assert bench.started[0] == first and len(bench.started) >= 2 and bench.started[-1] >= first + release + rise
        assert all(after - before >= LATENCY + ROUTINE for before, after in pairwise(bench.started))
        assert not bench.line.held


CARDS = {"lanai9": LanaiCard, "lanai4": LanaiCard, "sp": SpCard, "masked": MaskedLanaiCard}
FAST = Timing(interrupt_least=100_000, interrupt_most=400_000)


@pytest.mark.parametrize("kind", CARDS)
@pytest.mark.parametrize("timing", [Timing(), FAST], ids=["default", "fast"])
def test_no_interrupt_of_a_nic_is_lost_while_the_host_clears_it(kind: str, timing: Timing) -> None:
    nic = "lanai9" if kind == "masked" else kind
    machine = Machine(2, timing=timing, nic=nic, trace=False)
    host: Any = machine.host(0)
    window = 1_400_000 + timing.pio_latency
    rounds = Rounds(machine.kernel, host, CARDS[kind](host, machine.processor(0)), window // 150)
    machine.finish(rounds.run(150), within_us=1e6)
    assert rounds.lost == []
    assert set(rounds.served) <= {1, 2, 3} and {1, 2} & set(rounds.served)


def test_no_interrupt_of_a_fifo_card_is_lost_while_the_host_unmasks_it() -> None:
    machine = Machine(2, nic="fifo", trace=False)
    rounds = Rounds(
        machine.kernel,
        machine.host(0),
        FifoCard(machine.host(0), machine.host(1), machine.view(1)["routes"][0]),
        40_000,
    )
    machine.finish(rounds.run(150), within_us=1e6)
    assert rounds.lost == []
    assert {1, 2} <= set(rounds.served)
