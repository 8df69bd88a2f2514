"""Threads of a process that poll one queue together.

Strategy: a thread spins at a completion queue of either kind. Meanwhile another thread takes completions, posts to a
work queue, or resizes or destroys the completion queue. Two threads poll with several phase differences, so that the
first takes completions that the second has not yet seen. Every poll must end as soon as its C loop would.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import pytest

from firmware.via.host import Result, Vi, VipError
from firmware.via.host.library.completion_queue import CompletionQueue
from pymodels.machine import Machine
from tb.studies.via._via import join, user
from tests.unit.via.via_bench import start

KINDS = pytest.mark.parametrize("completion", ["cq1", "cq2"])
PHASES = pytest.mark.parametrize("phase_ns", [0, 30, 60, 90])
US, NS, WITHIN_US = 1_000_000, 1000, 5000
BEFORE, AFTER = 20 * US, 100 * US
"""Times of the other thread's start, and of the message."""


class Bench:
    """Two hosts with two connections; receives of the far host complete in one queue."""

    def __init__(self, completion: str) -> None:
        self.machine = Machine(2)
        vias = start(self.machine, preset="bvia2", completion=completion)
        self.near, self.far = self.machine.finish(*(user(via) for via in vias))
        self.mine: list[Vi] = []
        self.yours: list[Vi] = []
        self.queue: CompletionQueue
        (self.queue,) = self.machine.finish(self.far.nic.create_cq(16))
        self.machine.finish(self._connect())

    async def _connect(self) -> None:
        for _ in range(2):
            self.mine.append(await self.near.nic.create_vi(self.near.tag))
            self.yours.append(await self.far.nic.create_vi(self.far.tag, receive_cq=self.queue))
            await join(self.near, self.mine[-1], self.far, self.yours[-1], 1)

    async def expect(self, place: int, by: int = 0) -> None:
        """Post a receive of a connection."""
        await self.yours[by].post_receive(self.far.descriptor(place).receive([self.far.part(64 * place, 64)]))

    async def send(self, late_ps: int, place: int, by: int = 0) -> None:
        """Send a message of a connection after a delay."""
        await self.machine.host(0).sleep(late_ps)
        await self.mine[by].post_send(self.near.descriptor(place).send([self.near.part(0, 8)]))

    async def later(self, late_ps: int, call: Callable[[], Awaitable[Any]]) -> Any:
        """Run a call in another thread of the far process after a delay."""
        await self.machine.host(1).sleep(late_ps)
        return await call()

    def run(self, *threads: Coroutine[Any, Any, Any]) -> list[Any]:
        """Run threads concurrently."""
        return list(self.machine.finish(*threads, within_us=WITHIN_US))


@KINDS
@PHASES
def test_two_polling_threads_get_one_completion_each(completion: str, phase_ns: int) -> None:
    bench = Bench(completion)
    bench.run(bench.expect(0), bench.expect(1))
    second = bench.later(BEFORE + phase_ns * NS, bench.queue.poll)
    told = bench.run(bench.queue.poll(), second, bench.send(30 * US, 0), bench.send(130 * US, 1))
    assert told[:2] == [(bench.yours[0], True)] * 2


@KINDS
@PHASES
def test_a_polling_thread_gets_the_completion_after_one_that_another_thread_took(
    completion: str, phase_ns: int
) -> None:
    bench = Bench(completion)
    bench.run(bench.expect(0), bench.expect(1))

    async def looks() -> None:
        while await bench.queue.done() is None:
            pass

    second = bench.later(BEFORE + phase_ns * NS, looks)
    told, *_ = bench.run(bench.queue.poll(), second, bench.send(30 * US, 0), bench.send(130 * US, 1))
    assert told == (bench.yours[0], True)


@KINDS
def test_a_polling_thread_gets_the_completion_of_a_descriptor_posted_meanwhile(completion: str) -> None:
    bench = Bench(completion)
    bench.run(bench.expect(0, by=0))
    posted = bench.later(BEFORE, lambda: bench.expect(1, by=1))
    told, *_ = bench.run(bench.queue.poll(), posted, bench.send(AFTER, 0, by=1))
    assert told == (bench.yours[1], True)


@KINDS
def test_a_polling_thread_gets_completions_after_a_resize(completion: str) -> None:
    bench = Bench(completion)
    bench.run(bench.expect(0))
    resized = bench.later(BEFORE, lambda: bench.queue.resize(4))
    told, *_ = bench.run(bench.queue.poll(), resized, bench.send(AFTER, 0))
    assert told == (bench.yours[0], True)


def test_polling_a_destroyed_completion_queue_raises_an_error() -> None:
    bench = Bench("cq1")
    (queue,) = bench.machine.finish(bench.far.nic.create_cq(4))
    with pytest.raises(VipError) as refused:
        bench.run(queue.poll(), bench.later(BEFORE, queue.destroy))
    assert refused.value.result is Result.INVALID_PARAMETER
