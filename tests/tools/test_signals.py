"""Signals on each binding of the host's verbs: handlers, their times and costs, and no loss.

Strategy: as `test_computing`, the same programs run on all bindings with equal times, and all ends are computed by
hand. A signal is moved over every picosecond of a program that checks a flag and then sleeps, to show that no wake-up
is lost. The same program with `block`, which has this race, shows that the test detects it.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pymodels.host import Process, Sig, SignalError
from pymodels.host.scheduler import QUANTUM_PS
from tests.tools.hosts import BINDINGS, ENTRY, PATH, SIGNAL, SWITCH, Bound

NS = 1000


@pytest.fixture(name="bound", params=BINDINGS)
def fixture_bound(library: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Bound:
    """Return a host on each binding."""
    return Bound(request.param, library, monkeypatch)


class App:
    """Process whose handlers of USR1 and ALRM compute, and record when they begin and end."""

    def __init__(self, bound: Bound, name: str = "app", handler_ns: float = 2) -> None:
        self.bound = bound
        self.process: Process = bound.host.process(name)
        self.start = bound.kernel.now
        self.told: list[tuple[str, int]] = []

        async def handler(sig: Sig) -> None:
            self.tell(f"{sig.name} begins")
            await self.process.compute(handler_ns)
            self.tell(f"{sig.name} ends")

        for sig in (Sig.USR1, Sig.ALRM):
            self.process.on_signal(sig, handler)

    def tell(self, what: str) -> None:
        self.told.append((what, self.bound.kernel.now - self.start))

    def post(self, at: int, sig: Sig = Sig.USR1) -> None:
        """Send the process a signal from the kernel, `at` ps after the start."""
        self.bound.kernel.at(self.start + at, lambda: self.bound.host.signal(self.process.number, sig))


def test_a_handler_gets_the_cpu_at_once_and_delays_computing_by_its_time(bound: Bound) -> None:
    app = App(bound)
    app.post(3000)
    assert bound.ends(app.process.compute(10)) == [app.start + 10_000 + SIGNAL + 2000]
    assert app.told == [("USR1 begins", 3000 + SIGNAL), ("USR1 ends", 5000 + SIGNAL)]
    assert bound.host.cpu_ps == bound.kernel.now - app.start
    assert bound.host.scheduler.switches == 0


def test_handlers_nest_but_not_for_the_same_signal(bound: Bound) -> None:
    app = App(bound)
    app.post(3000)
    app.post(4000)  # masked until its handler returns
    app.post(4200, Sig.ALRM)  # interrupts that handler
    app.post(4300)  # pending already
    assert bound.ends(app.process.compute(10)) == [app.start + 10_000 + 3 * (SIGNAL + 2000)]
    assert [what for what, _ in app.told] == [
        *("USR1 begins", "ALRM begins", "ALRM ends", "USR1 ends"),
        *("USR1 begins", "USR1 ends"),
    ]
    assert app.told[1] == ("ALRM begins", 4200 + SIGNAL)


def test_a_handlers_mask_keeps_other_signals_until_it_returns(bound: Bound) -> None:
    app = App(bound)
    handler, _ = app.process.signals.handlers[Sig.USR1]
    app.process.on_signal(Sig.USR1, handler, [Sig.ALRM])
    app.post(3000)
    app.post(4200, Sig.ALRM)
    bound.ends(app.process.compute(10))
    assert [what for what, _ in app.told] == ["USR1 begins", "USR1 ends", "ALRM begins", "ALRM ends"]


def test_a_masked_signal_waits_until_it_is_unmasked(bound: Bound) -> None:
    app = App(bound)

    async def program() -> None:
        assert await app.process.set_mask([Sig.USR1]) == frozenset()
        await app.process.compute(10)
        app.tell("unmasks")
        assert await app.process.set_mask([]) == {Sig.USR1}
        app.tell("goes on")

    app.post(3000)
    app.post(3500)
    bound.ends(program())
    unmasked = 10_000 + 2 * ENTRY
    assert app.told == [
        ("unmasks", unmasked - ENTRY),
        ("USR1 begins", unmasked + SIGNAL),
        ("USR1 ends", unmasked + SIGNAL + 2000),
        ("goes on", unmasked + SIGNAL + 2000),
    ]


def test_a_short_verb_is_not_interrupted_the_handler_runs_at_its_end(bound: Bound) -> None:
    app = App(bound)
    app.post(1000)
    assert bound.ends(app.process.spend("look_flag")) == [app.start + PATH + SIGNAL + 2000]
    assert app.told[0] == ("USR1 begins", PATH + SIGNAL)


def test_a_polling_loop_is_interrupted_and_continues(bound: Bound) -> None:
    app = App(bound)
    va = app.process.allocate(4)
    app.post(10 * PATH)
    bound.kernel.at(app.start + 40 * PATH, lambda: app.process.store_words(va, (7,)))
    (end,) = bound.ends(app.process.poll([(va, 0)], "look_flag"))
    assert 10 * PATH + SIGNAL <= app.told[0][1] <= 11 * PATH + SIGNAL + 100
    assert 40 * PATH < end - app.start <= 41 * PATH + 100


def test_a_wait_interrupted_by_a_signal_reports_it(bound: Bound) -> None:
    app, answers = App(bound), []
    event = bound.host.event("never")

    async def program() -> None:
        await app.process.compute(1)
        answers.append(await app.process.block(event))
        app.tell("interrupted")
        bound.kernel.at(bound.kernel.now + 5000, event.set)
        answers.append(await app.process.block(event))

    app.post(3000)
    (end,) = bound.ends(program())
    assert answers == [False, True]
    assert app.told[0] == ("USR1 begins", 3000 + SWITCH + SIGNAL)
    assert end - app.start == app.told[-1][1] + 5000 + SWITCH
    assert not bound.kernel.waiting()


def wakes_up(bound: Bound, at: int, *, suspend: bool) -> bool:
    """Return True if a program that checks a flag and sleeps ends, when the signal that sets the flag is sent at `at`.

    With `suspend` the signal is masked from before the check on.
    """
    app, flags = App(bound), []
    never = bound.host.event("never")

    async def handler(sig: Sig) -> None:
        flags.append(sig)

    async def program() -> None:
        process = app.process
        process.on_signal(Sig.USR1, handler)
        if suspend:
            await process.set_mask([Sig.USR1])
        await process.compute(1)
        if not flags:
            await process.overhead("signal")  # work between check and sleep
            await (process.suspend() if suspend else process.block(never))
        app.tell("over")

    app.post(at)
    bound.ends(program())
    return bool(app.told) and bool(flags)


def test_no_wake_up_is_lost_between_check_and_sleep(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    window = range(0, 1000 + SIGNAL + 2 * ENTRY + 200, 2)
    for binding in BINDINGS:
        assert all(wakes_up(Bound(binding, library, monkeypatch), at, suspend=True) for at in window)
    lost = [at for at in window if not wakes_up(Bound("machine", library, monkeypatch), at, suspend=False)]
    assert len(lost) == SIGNAL // 2  # the window has an edge at each end


def test_suspend_restores_the_mask_and_sleeps_until_a_handler_has_run(bound: Bound) -> None:
    app = App(bound)

    async def program() -> None:
        await app.process.set_mask([Sig.USR1])
        await app.process.suspend([Sig.ALRM])
        app.tell("over")
        await app.process.compute(5)

    app.post(3000, Sig.ALRM)  # masked in suspend, not after it
    app.post(6000)
    app.post(9000)  # masked after it
    bound.ends(program())
    handled = 6000 + SWITCH + SIGNAL
    assert app.told[:2] == [("USR1 begins", handled), ("USR1 ends", handled + 2000)]
    assert [what for what, _ in app.told[2:]] == ["over", "ALRM begins", "ALRM ends"]


def test_a_process_without_the_cpu_handles_its_signal_when_it_gets_it(bound: Bound) -> None:
    app, other = App(bound), bound.host.process("other")
    never = bound.host.event("never")

    async def program() -> None:
        await app.process.block(never)

    app.post(3000)
    bound.ends(program(), other.compute(2 * QUANTUM_PS / NS))
    (_, begins), _ = app.told
    began_to_run = 0 if bound.host.scheduler.switches == 2 else SWITCH
    assert begins == began_to_run + QUANTUM_PS + SWITCH + SIGNAL


def test_an_interval_timer_sends_alarms_until_it_is_stopped(bound: Bound) -> None:
    app = App(bound)

    async def program() -> None:
        await app.process.set_timer(10, 20)
        await app.process.compute(100)
        await app.process.set_timer(0)

    (end,) = bound.ends(program())
    begins = [time for what, time in app.told if what == "ALRM begins"]
    assert begins == [ENTRY + 10_000 + 20_000 * i + SIGNAL for i in range(len(begins))]
    assert end - app.start == 2 * ENTRY + 100_000 + len(begins) * (SIGNAL + 2000)


def test_a_process_sends_another_a_signal_by_a_system_call(bound: Bound) -> None:
    app, sender = App(bound), bound.host.process("sender")
    never = bound.host.event("never")

    async def program() -> None:
        await bound.host.sleep(1000)
        await sender.kill(app.process.number, Sig.USR1)

    bound.ends(app.process.block(never), program())
    assert [what for what, _ in app.told] == ["USR1 begins", "USR1 ends"]


def test_signals_without_a_handler_are_rejected_by_name(bound: Bound) -> None:
    app = App(bound)
    with pytest.raises(SignalError, match=r"^h: process app: kill\(7, USR1\): no process 7 on this host; processes: 1"):
        bound.ends(app.process.kill(7, Sig.USR1))
    with pytest.raises(SignalError, match=r"^host h: signal\(0, IO\): no process 0"):
        bound.host.signal(0, Sig.IO)
    with pytest.raises(SignalError, match=r"^h: process app: signal IO: it has no handler, so it would be killed; "):
        bound.host.signal(1, Sig.IO)
    with pytest.raises(SignalError, match=r"^h: process app: set_timer\(-1, 0\): a timer cannot expire before now"):
        bound.ends(app.process.set_timer(-1))


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    signals=st.lists(st.tuples(st.integers(0, 20_000), st.sampled_from([Sig.USR1, Sig.ALRM])), max_size=6),
    routines=st.lists(st.tuples(st.integers(0, 20_000), st.integers(1, 3)), max_size=4),
)
def test_bindings_agree_wherever_signals_and_interrupts_fall(
    library: Path,
    monkeypatch: pytest.MonkeyPatch,
    signals: list[tuple[int, Sig]],
    routines: list[tuple[int, int]],
) -> None:
    found = []
    for binding in BINDINGS:
        bound = Bound(binding, library, monkeypatch)
        app, other = App(bound), bound.host.process("other")
        for at, sig in signals:
            app.post(at, sig)
        for at, calls in routines:
            bound.routine(app.start + at, calls)
        times = bound.ends(app.process.compute(9), other.compute(5))
        delivered = app.process.signals.delivered
        calls = ENTRY * sum(calls for _, calls in routines)
        used = 14_000 + delivered * (SIGNAL + 2000) + calls + SWITCH * bound.host.scheduler.switches
        assert bound.host.cpu_ps == used
        found.append((app.told, times, bound.host.scheduler.switches, bound.stretches()))
    assert found[0] == found[1] == found[2]
