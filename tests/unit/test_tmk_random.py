"""Random programs over TreadMarks: every read is right, and the run counts what lazy release consistency says.

Strategy: programs without data races, with locks, barriers, computing and words of all owners in the same pages, on two
to eight processes of the machine. Each read is compared with memory as one process would have it. A model that keeps
sets instead of vectors is told the schedule, and must count the same faults, twins, diffs, notices and intervals. With
a small limit records are collected all the time; then only reads are compared. `SANLAB_TMK_SEEDS` sets how many.
"""

from __future__ import annotations

import os

import pytest

from tests.unit.tmk_programs import Watched

SEEDS = int(os.environ.get("SANLAB_TMK_SEEDS", "24"))


@pytest.mark.parametrize("seed", range(SEEDS))
def test_every_read_is_right_and_the_model_counts_the_same(seed: int) -> None:
    watched = Watched(seed, nodes=2 + seed % 7, pages=1 + seed % 3)
    watched.run(seed, phases=4)
    run, model = watched.counts()
    assert run == model
    assert watched.reads > 20


@pytest.mark.parametrize("seed", range(SEEDS // 3))
def test_every_read_is_right_when_records_are_collected_all_the_time(seed: int) -> None:
    watched = Watched(seed, nodes=2 + seed % 7, pages=3, collect_bytes=256)
    watched.run(seed, phases=6)
    assert all(tmk.barriers.collections > 1 for tmk in watched.bench.all)
    assert max(tmk.coherence.kept for tmk in watched.bench.all) < 20_000
