"""Preemptible computing: owner of the CPU over time, to the picosecond, on each binding of the host's verbs.

Strategy: the doorway's C library is compiled alone. The same programs run with equal times on three hosts: the RTL's
with its hot part in C, the RTL's with that part in Python, and the machine's. An interrupt routine is a task that takes
the CPU. All ends are computed by hand; software acts at odd picoseconds.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pymodels.host import ComputingError
from pymodels.host.scheduler import QUANTUM_PS
from tests.tools.hosts import BINDINGS, ENTRY, PATH, SWITCH, Bound

NS = 1000


@pytest.fixture(name="bound", params=BINDINGS)
def fixture_bound(library: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Bound:
    """Return a host on each binding."""
    return Bound(request.param, library, monkeypatch)


def test_undisturbed_computing_costs_one_wake_up_of_any_duration(bound: Bound) -> None:
    app, kernel = bound.host.process("app"), bound.kernel
    start, wakes = kernel.now, 0
    app.spawn(app.compute(20_000_000), "thread")
    kernel.run_ready()
    while (alarm := kernel.next_alarm()) is not None:
        kernel.now, wakes = alarm, wakes + 1
        kernel.run_ready()
    assert (kernel.now, wakes) == (start + 20_000_000 * NS, 1)


@pytest.mark.parametrize("level", ["host", "process"])
def test_computing_takes_exactly_its_time(bound: Bound, level: str) -> None:
    who = bound.host.process("app") if level == "process" else bound.host
    start = bound.kernel.now
    seen = []

    async def program() -> None:
        for what, times in ((123.5, 2), ("look_flag", 3), (0, 1), ("look_flag", 0)):
            await who.compute(what, times)
            seen.append((bound.kernel.now - start, bound.host.cpu_ps))

    bound.ends(program())
    assert seen == [(247_000, 247_000), *[(247_000 + 3 * PATH, 247_000 + 3 * PATH)] * 3]
    assert bound.stretches() == [(start, start + 247_000), (start + 247_000, start + 247_000 + 3 * PATH)]


@pytest.mark.parametrize("level", ["host", "process"])
def test_interrupt_routines_get_the_cpu_at_once_and_delay_the_end_by_their_time(bound: Bound, level: str) -> None:
    who = bound.host.process("app") if level == "process" else bound.host
    start = bound.kernel.now
    bound.routine(start + 1000, 1)
    bound.routine(start + 1100, 2)  # queues behind the first
    bound.routine(start + 8000, 1)
    assert bound.ends(who.compute(10)) == [start + 10_000 + 4 * ENTRY]
    assert bound.host.cpu_ps == 10_000 + 4 * ENTRY
    pieces = [(start, start + 1000), (start + 1900, start + 8000), (start + 8300, start + 11_200)]
    assert bound.stretches() == pieces


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(routines=st.lists(st.tuples(st.integers(0, 12_000), st.integers(1, 4)), max_size=6), ns=st.integers(1, 9))
def test_both_bindings_agree_wherever_interrupts_fall(
    library: Path, monkeypatch: pytest.MonkeyPatch, routines: list[tuple[int, int]], ns: int
) -> None:
    found = []
    for binding in BINDINGS:
        bound = Bound(binding, library, monkeypatch)
        for at, calls in routines:
            bound.routine(bound.kernel.now + at, calls)
        start = bound.kernel.now
        times = bound.ends(bound.host.compute(ns), bound.host.compute(2 * ns))
        taken = bound.host.cpu_ps
        assert taken == 3 * ns * NS + ENTRY * sum(calls for _, calls in routines)
        assert sum(end - begin for begin, end in bound.stretches()) == 3 * ns * NS
        found.append(([time - start for time in times], [(a - start, b - start) for a, b in bound.stretches()]))
    assert found[0] == found[1] == found[2]


def test_threads_that_compute_share_the_cpu_by_the_quantum(bound: Bound) -> None:
    a, b = bound.host.process("a"), bound.host.process("b")
    start, half = bound.kernel.now, QUANTUM_PS // 2
    times = bound.ends(a.compute((QUANTUM_PS + half) / NS), b.compute(half / NS))
    first = start + QUANTUM_PS + SWITCH + half
    assert times == [first + SWITCH + half, first]
    assert bound.host.scheduler.switches == 2
    assert bound.host.cpu_ps == bound.kernel.now - start


def test_a_late_thread_waits_for_the_rest_of_the_quantum(bound: Bound) -> None:
    a, b = bound.host.process("a"), bound.host.process("b")
    start = bound.kernel.now

    async def late() -> None:
        await bound.host.sleep(3 * QUANTUM_PS // 4)
        await b.syscall()

    times = bound.ends(a.compute(2 * QUANTUM_PS / NS), late())
    assert times[1] == start + QUANTUM_PS + SWITCH + ENTRY
    assert times[0] == start + 2 * QUANTUM_PS + 2 * SWITCH + ENTRY


def test_a_single_thread_computes_beyond_its_quantum_without_a_switch(bound: Bound) -> None:
    app, start = bound.host.process("app"), bound.kernel.now
    assert bound.ends(app.compute(5 * QUANTUM_PS / NS)) == [start + 5 * QUANTUM_PS]
    assert bound.host.scheduler.switches == 0


@pytest.mark.parametrize("what", [-1, -0.5, float("nan"), float("inf")])
def test_an_invalid_time_is_rejected_by_name(bound: Bound, what: float) -> None:
    app = bound.host.process("app")
    with pytest.raises(ComputingError, match=rf"^h: process app: compute\({what}\): a time to compute is finite"):
        bound.ends(app.compute(what))
    with pytest.raises(ComputingError, match=rf"^host h: compute\({what}\): "):
        bound.ends(bound.host.compute(what))


def test_negative_counts_are_rejected_by_name(bound: Bound) -> None:
    with pytest.raises(ComputingError, match=r"^h: process app: compute\('look_flag'\): -2 repetitions are negative"):
        bound.ends(bound.host.process("app").compute("look_flag", -2))
