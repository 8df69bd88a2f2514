"""Studies of GRIM's host API, with minimal settings.

Strategy: each claim of the paper is a metric of its study and the same on both simulators. A miss costs as much as an
interrupt, and a polling thread is late. Handlers without the overflow queue deadlock in a cycle of both hosts and both
NIs; with it everything arrives.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tb.report.life import READ, REPLY
from tests.system.lives import kinds, whole_lives
from tests.system.runs import assert_equal, must

HERE, THERE = "host paris", "host metz"


def test_remote_memory_is_the_same_on_both_simulators_and_a_miss_costs_an_interrupt(tmp_path: Path) -> None:
    one, other = (must("grim_remote_memory", sim, tmp_path / sim, "largest=256") for sim in ("verilator", "icarus"))
    assert_equal(one, other)
    for size in (4, 64, 256):
        physical, hit, pages, miss = (
            one.metrics[f"{kind}_us_{size}B"] for kind in ("rm_p", "rm_v", "rm_v_scattered", "rm_v_miss")
        )
        assert physical < pages + 1
        assert hit < pages + 1
        assert 10 < miss - pages < 10 + 17 + 10, "the interrupt latency of the host's profile, and the service"
    assert one.metrics["interrupts"] == one.metrics["misses"] > 0
    lives = whole_lives(one, nameless=4)
    assert kinds(lives)[READ] == kinds(lives)[REPLY] == 12
    assert all(life.cause is not None and life.cause.kind == READ for life in lives if life.kind == REPLY)


def test_polling_thread_is_late_by_half_its_period_and_the_switches(tmp_path: Path) -> None:
    done = must("grim_polling", "verilator", tmp_path, "repetitions=25 compute_us=200")
    for period in (10, 20, 50, 100):
        assert 0.3 * period < done.metrics[f"added_us_{period}us"] < 0.7 * period + 10
    taken = [done.metrics[f"taken_percent_{period}us"] for period in (10, 20, 50, 100)]
    assert taken == sorted(taken, reverse=True)


def test_replying_handlers_deadlock_only_without_the_overflow_queue(tmp_path: Path) -> None:
    done = must("grim_overflow", "verilator", tmp_path)
    assert done.metrics["delivered"] == 400
    assert done.metrics["lost"] == done.metrics["doubled"] == done.metrics["out_of_order"] == 0
    assert done.metrics["deadlock_without"] == 1
    assert done.metrics["units_in_the_cycle"] == 4
    report = (done.folder / "stuck.txt").read_text(encoding="utf-8")
    assert f"{HERE} waits for room in the queue of its channel 0, held by NIC 0" in report
    waits = rf"NIC 0 waits for room in the endpoint queues of VNN 1 \(stream \d+\), held by {THERE}"
    assert re.search(waits, report)


def test_remote_memory_works_on_a_lanai4(tmp_path: Path) -> None:
    done = must("grim_remote_memory", "verilator", tmp_path, "largest=64 repetitions=1", profile="lanai4")
    assert done.metrics["interrupts"] == done.metrics["misses"] == 3
    assert done.metrics["rm_v_miss_us_4B"] > done.metrics["rm_v_us_4B"] + 10


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_hosts_enable_in_any_order_and_none_completes_alone(seed: int, tmp_path: Path) -> None:
    done = must("late_enable", "verilator", tmp_path, seed=seed)
    assert done.metrics["messages"] == 2
    assert done.metrics["notices"] > 2 + done.metrics["apart_us"] / 50 - 2, "what vanished was repeated"
