"""Stores, doorbells, signals, ends of DMA, timers and packets that wake sleeping parts, at every phase of falling
asleep.

Strategy: each event occurs a little later in every round (`scenarios/wake_phases.py`). The first is before a processor
begins to poll for it, the last when processor, card, bus and link sleep again. A lost event hangs the run. Each event
must be noticed at the same picosecond with free-running clocks, and the traces must be equal. The same must hold in
fewer rounds on Icarus, and with the verbs in Python instead of C. The step is not a multiple of a clock period, so
rounds pass through the phases of all clocks.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tb.sim.compiled import COMPILED
from tests.system.runs import assert_equal, must

CLUSTERS = {"lanai9": "two_hosts", "lanai4": "two_hosts", "sp": "two_hosts", "fifo": "fifo_cards"}
ROUNDS, SAMPLE = 220, "rounds=30 step_ps=57777"


@pytest.mark.parametrize("kind", CLUSTERS)
def test_an_event_wakes_sleeping_parts_at_the_time_at_which_free_running_clocks_notice_it(
    kind: str, tmp_path: Path
) -> None:
    asleep, awake = (
        must(
            "wake_phases", "verilator", tmp_path / f"{on}", f"rounds={ROUNDS} run.always_on={on}", cluster, profile=kind
        )
        for cluster in [CLUSTERS[kind]]
        for on in (0, 1)
    )
    assert_equal(asleep, awake)
    assert asleep.results.cost.cycles < awake.results.cost.cycles, "clocks sleep between the events"
    for series in asleep.results.series.values():
        assert len(set(series.y)) > 1, "the rounds differ in phase"


@pytest.mark.parametrize("kind", CLUSTERS)
def test_verbs_in_c_and_in_python_notice_each_event_at_the_same_time(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = must("wake_phases", "verilator", tmp_path / "c", SAMPLE, CLUSTERS[kind], profile=kind)
    monkeypatch.setenv(COMPILED, "0")
    other = must("wake_phases", "verilator", tmp_path / "python", SAMPLE, CLUSTERS[kind], profile=kind)
    assert_equal(one, other, same_simulator=True)


@pytest.mark.parametrize("kind", CLUSTERS)
def test_both_simulators_notice_each_event_at_the_same_time(kind: str, tmp_path: Path) -> None:
    one, other = (
        must("wake_phases", simulator, tmp_path / simulator, SAMPLE, CLUSTERS[kind], profile=kind)
        for simulator in ("verilator", "icarus")
    )
    assert_equal(one, other)
