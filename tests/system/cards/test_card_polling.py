"""Polling a word of a NIC's card over the RTL: the bus, the bridge and the arbiter of the card's memory.

Strategy: the same changes of a word are polled by `poll_card` and by single reads in a loop: alone, beside DMA,
interrupts and signals, and beside other pollers. Results and traces must be equal record for record, on both
simulators, with gated and free-running clocks. The changes occur at times that repeatedly pass through a turn of the
loop, so delays must spread evenly over one turn. Single reads, Icarus and free-running clocks execute every turn.
`poll_card` on Verilator computes most turns, as the number of clock edges shows, and executes the others on the CPU's
port.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pymodels.results import differences
from pymodels.trace import Part, TraceEvent
from tb.sim.compiled import COMPILED
from tests.system.runs import Run, assert_equal, must

BUSY = "changes=8 busy=1 others=1"

UNEVEN = 0.2
"""Largest deviation of 64 uniform draws from even shares with 99 % probability (Kolmogorov: 1.63 / sqrt(64))."""


@pytest.fixture(name="busy", scope="module")
def fixture_busy(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Return a run with `poll_card` on Verilator with gated clocks."""
    return must("card_poll", "verilator", tmp_path_factory.mktemp("busy"), BUSY)


@pytest.mark.parametrize("settings", ["changes=64", BUSY, "changes=16 program=1"])
def test_one_verb_is_equivalent_to_single_reads(settings: str, tmp_path: Path) -> None:
    one, other = (
        must("card_poll", "verilator", tmp_path / str(single), f"{settings} single={single}") for single in (0, 1)
    )
    assert len(one.trace) > 50, "there is something to compare"
    assert (one.trace == other.trace).all() and one.metrics == other.metrics
    assert one.results.cost.cycles < other.results.cost.cycles, "turns are computed"
    assert one.results.cost.python_wakes < other.results.cost.python_wakes
    assert all("single" in line for line in differences(one.results, other.results, same_simulator=False))


@pytest.mark.parametrize(("simulator", "always_on"), [("verilator", 1), ("icarus", 0)])
def test_simulators_and_clocks_agree(busy: Run, simulator: str, always_on: int, tmp_path: Path) -> None:
    assert_equal(busy, must("card_poll", simulator, tmp_path, f"{BUSY} run.always_on={always_on}"))


def test_verbs_in_c_and_in_python_agree_beside_dma_interrupts_and_signals(
    busy: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(COMPILED, "0")
    assert_equal(busy, must("card_poll", "verilator", tmp_path, BUSY), same_simulator=True)


def test_turns_of_an_idle_loop_are_equally_long_on_both_simulators(tmp_path: Path) -> None:
    one, other = (must("host_polling", name, tmp_path / name, "idle_us=20") for name in ("verilator", "icarus"))
    assert_equal(one, other)
    assert one.results.cost.cycles < 1000, "turns are computed"
    assert one.metrics["card_turn_ns"] == one.metrics["card_turn_ns_longest"] > 0


def test_delays_spread_evenly_over_one_turn(tmp_path: Path) -> None:
    done = must("card_poll", "verilator", tmp_path, "changes=64")
    turns = np.diff(done.times(0, Part.HOST_CPU, TraceEvent.SPEND_END))
    turn = float(np.median(turns))
    delays = np.sort([value for name, value in done.metrics.items() if name.startswith("delay_ps_")])
    within = (delays - delays[0]) / turn
    assert within[-1] <= 1
    assert np.abs(within - np.arange(64) / 63).max() < UNEVEN, "no share of a turn has more of them than its own"
