"""Random calls of LAPI on four tasks over unreliable links leave the expected memory.

Strategy: a list of puts, gets, active messages and `Rmw` is drawn by a seed; each writes its own range, except for the
sums. The expected memory is computed from the list. One route is slow; packets are lost, damaged and duplicated. In
half of the runs packets interrupt.
"""

from __future__ import annotations

import random
from typing import NamedTuple

import pytest

from firmware.lapi.host import Lapi, Place, Rmw
from pymodels.topology import End
from tests.unit.lapi.lapi_bench import Buffers, Tasks, pattern

TASKS, SLOTS, SLOT = 4, 6, 2048


class Call(NamedTuple):
    """Call: kind, target, its own range at either end, bytes."""

    kind: str
    target: int
    slot: int
    size: int


def drawn(seed: int) -> list[list[Call]]:
    """Return the calls of each task, some to itself."""
    draw = random.Random(seed)
    kinds, sizes = ("put", "get", "amsend", "rmw"), (0, 1, 5, 900, 976, 977, SLOT)
    return [
        [Call(draw.choice(kinds), draw.randrange(TASKS), slot, draw.choice(sizes)) for slot in range(SLOTS)]
        for _ in range(TASKS)
    ]


class World:
    """Tasks and their calls."""

    def __init__(self, seed: int, interrupts: int) -> None:
        self.calls = drawn(seed)
        self.tasks = Tasks(TASKS, chips=4, interrupt_set=interrupts, timeout_us=200)
        self.tasks.machine.faults.lose(0.05, 0.05, seed, doubled=0.05, most_ps=50_000_000)
        self.tasks.machine.faults.delay_into(End("chip1", 6), 50_000_000)
        self.memory = Buffers(self.tasks)
        self.completed = [0] * TASKS
        self.handlers = [lapi.handler(self.head) for lapi in self.tasks.lapis]

    def place(self, task: int, source: int, slot: int) -> int:
        """Return the address of a call's data."""
        return self.memory.here[task] + SLOT * (SLOTS * source + slot)

    async def head(self, source: int, user: bytes, size: int) -> Place:
        target, slot = user
        return Place(self.place(target, source, slot) if size else 0, self.complete, target)

    async def complete(self, lapi: Lapi, target: int) -> None:
        self.completed[target] += 1

    async def program(self, lapi: Lapi) -> None:
        """Run all calls of a task."""
        me, sends = lapi.me, self.memory.counter(lapi.me, 1)
        for slot in range(SLOTS):
            lapi.process.store_bytes(self.memory.out[me] + SLOT * slot, pattern(SLOT, 10 * me + slot))
        for call in self.calls[me]:
            await self.make(lapi, call)
        await lapi.Waitcntr(sends, sum(call.kind == "amsend" for call in self.calls[me]))
        await lapi.Gfence()
        await lapi.Term()

    async def make(self, lapi: Lapi, call: Call) -> None:
        """Make one call."""
        me, (kind, target, slot, size), memory = lapi.me, call, self.memory
        out = memory.out[me] + SLOT * slot
        if kind == "put":
            await lapi.Put(target, size, self.place(target, me, slot), out)
        elif kind == "get":
            await lapi.Get(target, size, memory.out[target], self.place(me, me, slot))
        elif kind == "amsend":
            user = bytes([target, slot])
            await lapi.Amsend(target, self.handlers[target], user, 2, out, size, 0, 0, memory.counter(me, 1))
        else:
            await lapi.Rmw(Rmw.FETCH_AND_ADD, target, memory.counter(target, 2), slot + 1)

    def check(self, source: int, call: Call) -> None:
        """Check that a call's data arrived and that no byte behind them changed."""
        kind, target, slot, size = call
        at, salt = (source, 10 * target) if kind == "get" else (target, 10 * source + slot)
        data = self.tasks.lapis[at].process.load_bytes(self.place(at, source, slot), SLOT)
        assert data == pattern(SLOT, salt)[:size].ljust(SLOT, b"\0"), (source, call)


@pytest.mark.parametrize(("seed", "interrupts"), [(1, 0), (2, 1), (3, 0), (4, 1)])
def test_random_calls_over_faulty_links_leave_the_expected_memory(seed: int, interrupts: int) -> None:
    world = World(seed, interrupts)
    world.tasks.all(world.program)
    every = [(source, call) for source, made in enumerate(world.calls) for call in made]
    for source, call in every:
        if call.kind != "rmw":
            world.check(source, call)
    for lapi in world.tasks.lapis:
        own = [call for _, call in every if call.target == lapi.me]
        total = sum(call.slot + 1 for call in own if call.kind == "rmw")
        assert lapi.memory.word(world.memory.counter(lapi.me, 2)) == total
        assert world.completed[lapi.me] == sum(call.kind == "amsend" for call in own)
    assert sum(lapi.outgoing.resent for lapi in world.tasks.lapis) > 0
