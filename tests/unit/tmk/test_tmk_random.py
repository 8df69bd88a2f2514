"""Random programs over TreadMarks: every read is right, and the counts match lazy release consistency.

Strategy: programs without data races, with locks, barriers, computing and words of all owners in the same pages, on two
to eight processes of the machine. Each read is compared with the memory of a sequential execution. A model with sets
instead of vectors gets the schedule and must count the same faults, twins, diffs, notices and intervals. With a small
limit records are collected continuously; then only reads are compared. Over UDP messages are lost, damaged, duplicated
and delayed. `SANLAB_TMK_SEEDS` sets the number of programs; twelve cover each number of processes and each substrate.
"""

from __future__ import annotations

import os
from typing import Any

import pytest

from firmware.tmk.host.over_udp import OverUdp
from tb.studies.tmk._tmk_random import Watched
from tests.amount import EVERY_CASE
from tests.unit.tmk.tmk_bench import Bench

WAYS: tuple[dict[str, Any], ...] = (
    {"on": "udp"},
    {"on": "via"},
    {"on": "via", "scheme": "timer", "timer_us": 300},
    {"on": "via", "scheme": "thread", "vis": 1},
    {"on": "via", "below": {"preset": "bvia2"}},
    {"on": "via", "scheme": "polling", "below": {"preset": "bvia2"}},
)
"""Substrates, in turn."""
RARE = 261, 304
"""Seeds of rare cases: a Request to a thread during another service; a page given away between fault and write."""
SEEDS = int(os.environ.get("SANLAB_TMK_SEEDS", "24" if EVERY_CASE else "12"))


def run(seed: int, pages: int, phases: int, **options: Any) -> tuple[Bench, Watched]:
    """Run one program on two to eight processes."""
    bench = Bench(2 + seed % 7, seed=seed, pages=pages, trace=False, **options, **WAYS[seed % len(WAYS)])
    watched = Watched(bench.all, pages, told=not options)
    bench.program(lambda tmk: watched.program(tmk, seed, phases))
    return bench, watched


@pytest.mark.parametrize("seed", sorted({*range(SEEDS), *RARE}))
def test_every_read_is_right_and_the_model_counts_the_same(seed: int) -> None:
    _, watched = run(seed, 1 + seed % 3, 4)
    counted, model = watched.counts()
    assert counted == model
    assert watched.reads > 20


@pytest.mark.parametrize("seed", range(SEEDS // 3))
def test_every_read_is_right_while_records_are_collected_continuously(seed: int) -> None:
    bench, _ = run(seed, 3, 6, collect_bytes=256)
    assert all(tmk.barriers.collections > 1 for tmk in bench.all)
    assert max(tmk.coherence.kept for tmk in bench.all) < 20_000


@pytest.mark.parametrize("seed", range(1, 1 + SEEDS // 3))
def test_reads_and_counts_are_right_despite_lost_duplicated_and_late_messages(seed: int) -> None:
    bench = Bench(2 + seed % 7, seed=seed, pages=1 + seed % 3, trace=False, resend_us=1500)
    bench.machine.faults.lose(0.04, 0.04, seed, reordered=0.05, doubled=0.05)
    watched = Watched(bench.all, 1 + seed % 3)
    bench.program(lambda tmk: watched.program(tmk, seed, 4))
    counted, model = watched.counts()
    assert counted == model
    resent = [tmk._substrate.resent for tmk in bench.all if isinstance(tmk._substrate, OverUdp)]
    assert sum(resent) > 0
