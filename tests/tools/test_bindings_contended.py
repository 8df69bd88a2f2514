"""Verbs of a host used by several tasks at once, beside interrupts and DMA, on each binding.

Strategy: as `test_computing`. Random tasks of one host spend paths, compute, enter the kernel, switch contexts, copy
memory, sleep, wake each other and poll words that DMA changes. Meanwhile the interrupt line rises and falls. Each task
must reach each of its steps at the same picosecond on all bindings. The interrupt routine must begin at the same times,
and the used CPU time must be equal. Words are polled by one task at a time, because the bindings divide the CPU time of
two polling loops differently.
"""

from __future__ import annotations

from collections.abc import Coroutine
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.tools.hosts import BINDINGS, Bound

WORDS, STRIDE = 6, 64
STEPS = st.one_of(
    st.tuples(st.just("spend"), st.integers(1, 3)),
    st.tuples(st.just("compute"), st.integers(1, 20)),
    st.tuples(st.just("syscall"), st.just(0)),
    st.tuples(st.just("switch"), st.just(0)),
    st.tuples(st.just("copy"), st.integers(1, 100)),
    st.tuples(st.just("sleep"), st.integers(1, 20_000)),
    st.tuples(st.just("wake"), st.just(0)),
    st.tuples(st.just("wait"), st.just(0)),
)
TASKS = st.lists(st.lists(STEPS, max_size=6), min_size=2, max_size=4)
CHANGES = st.lists(st.integers(1, 60_000), max_size=WORDS)
LEVELS = st.lists(st.integers(1, 20_000), max_size=4)
"""Times between successive rises of the interrupt line, which the interrupt routine releases."""


@dataclass
class Contended:
    """Host of a simulation and the steps of its tasks: name of the task, step, time."""

    bound: Bound
    seen: list[tuple[str, int, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.start, self.host = self.bound.kernel.now, self.bound.host
        self.base = self.host.allocate(4096).address
        self.woken = self.host.event("another task")
        self.host.on_interrupt(self._serve)

    def see(self, name: str, step: int) -> None:
        self.seen.append((name, step, self.bound.kernel.now - self.start))

    async def _serve(self) -> None:
        self.see("interrupt", 0)
        await self.host.syscall()
        self.bound.interrupt(False)
        await self.host.spend("look_flag")
        self.see("interrupt", 1)

    async def task(self, name: str, steps: list[tuple[str, int]]) -> None:
        """Do the steps in order."""
        for number, (verb, value) in enumerate(steps):
            await self._do(verb, value)
            self.see(name, number)

    async def _do(self, verb: str, value: int) -> None:
        host = self.host
        if verb == "spend":
            await host.spend("look_flag", value)
        elif verb == "compute":
            await host.compute(value)
        elif verb == "syscall":
            await host.syscall()
        elif verb == "switch":
            await host.switch_context()
        elif verb == "copy":
            await host.copy_memory("look_flag", self.base + 2048, self.base + 1024, value)
        elif verb == "sleep":
            await host.sleep(value)
        elif verb == "wake":
            self.woken.set()
        else:
            host.spawn(self._wake_later(), "wakes")
            await self.woken.wait()

    async def _wake_later(self) -> None:
        await self.host.sleep(9_000)
        self.woken.set()

    async def poller(self, count: int) -> None:
        """Poll the words one after the other until DMA has changed each."""
        for number in range(count):
            words = [(self.base + STRIDE * i, 0) for i in range(number, count)]
            self.see(f"word {await self.host.poll(words, 'look_flag')}", number)
            await self.host.poll(words[:1], "look_flag")
            self.see("poller", number)

    def raise_at(self, times: list[int]) -> None:
        """Raise the interrupt line at the given times."""
        for time in times:
            self.bound.kernel.at(self.start + time, lambda: self.bound.interrupt(True))

    def store_at(self, times: list[int]) -> None:
        """Change the words one after the other by DMA at the given times."""
        for number, time in enumerate(times):
            address = self.base + STRIDE * number
            self.bound.kernel.at(self.start + time, partial(self.bound.dma, address, 1))


def summed(times: list[int]) -> list[int]:
    return [sum(times[: i + 1]) for i in range(len(times))]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tasks=TASKS, changes=CHANGES, levels=LEVELS)
def test_all_bindings_agree_when_tasks_interrupts_and_dma_contend(
    library: Path,
    monkeypatch: pytest.MonkeyPatch,
    tasks: list[list[tuple[str, int]]],
    changes: list[int],
    levels: list[int],
) -> None:
    found = []
    for binding in BINDINGS:
        run = Contended(Bound(binding, library, monkeypatch, miss=0))
        run.raise_at(summed(levels))
        run.store_at(changes)
        programs: list[Coroutine[Any, Any, None]] = [run.task(f"task {i}", steps) for i, steps in enumerate(tasks)]
        ends = [end - run.start for end in run.bound.ends(*programs, run.poller(len(changes)))]
        found.append((sorted(run.seen), ends, run.host.cpu_ps))
    assert found[0] == found[1] == found[2]
