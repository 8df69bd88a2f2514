"""LAPI operations whose costs are recorded: all calls, reordered and lost packets, counters, fences, environment."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

from firmware.lapi.host import Lapi, Place, Query, Rmw, Set
from firmware.lapi.host.handlers import CompletionHandler
from firmware.lapi.host.header import MOST
from pymodels.topology import End
from tests.unit.lapi.lapi_bench import Tasks
from tests.unit.layers.charges import Charges, settled


def tour(charges: Charges) -> None:
    """Run each operation."""
    tasks = Tasks()
    one, other = tasks.lapis
    here, there = (lapi.process.allocate(8192) for lapi in tasks.lapis)
    counter, far = here + 8000, there + 8000

    async def head(source: int, user: bytes, size: int) -> Place:
        return Place(there, completions.get(user))

    async def done(lapi: Lapi, argument: object) -> None:
        pass

    completions: dict[bytes, CompletionHandler | Set] = {
        b"done": done,
        b"here": Set(far + 8, 1),
        b"away": Set(counter + 8, 1, at_sender=True),
    }
    handler = other.handler(head)

    def both(name: str, call: Awaitable[Any]) -> None:
        with charges.operation(name):
            tasks.run(settled(tasks.machine, call), other.Waitcntr(far, 1))

    both("put of 8 B", one.Put(1, 8, there, here, far, counter))
    both(
        "put of two packets, and a counter when it is complete",
        _complete(one, one.Put(1, 2 * MOST, there, here, far, 0, counter), counter, 2),
    )
    both("active message", one.Amsend(1, handler, b"user", 4, here, 8, far))
    both("active message with a completion handler", one.Amsend(1, handler, b"done", 4, here, 8, far))
    both("active message that sets a word here", one.Amsend(1, handler, b"here", 4, here, 8, far))
    both("active message that sets a word there", one.Amsend(1, handler, b"away", 4, here, 8, far))
    both("get of 8 B", _complete(one, one.Get(1, 8, there, here, far, counter), counter, 1))
    with charges.operation("rmw"):
        rmw = one.Rmw(Rmw.FETCH_AND_ADD, 1, far, 1, 0, counter)
        tasks.run(_complete(one, rmw, counter, 1), other.Waitcntr(far, 1))
    with charges.operation("put to itself"):
        tasks.run(one.Put(0, 8, here + 64, here, counter))
    with charges.operation("counters"):
        tasks.run(_counters(one, counter))
    with charges.operation("fence of all"):
        tasks.run(one.Gfence(), other.Gfence())
    with charges.operation("addresses of all"):
        tasks.run(one.Address_init(1), other.Address_init(2))
    with charges.operation("environment"):
        tasks.run(_environment(one))
    faults = tasks.machine.faults
    faults.drop(0, 1, faults.passed(0, 1))
    with charges.operation("put that is lost"):
        tasks.run(_fenced(one, one.Put(1, 8, there, here, far)), other.Waitcntr(far, 1))
    faults.drop(1, 0, faults.passed(1, 0))
    with charges.operation("acknowledgement that is lost"):
        tasks.run(_fenced(one, one.Put(1, 8, there, here, far)), _served(other, far))
    with charges.operation("interrupts"):
        tasks.run(*(lapi.Senv(Query.INTERRUPT_SET, 1) for lapi in tasks.lapis))
        faults.drop(0, 1, faults.passed(0, 1))
        tasks.run(settled(tasks.machine, one.Put(1, 8, there, here, far)))
        tasks.run(_after(tasks, 3_000_000_000))
    faults.delay_into(End("chip1", 7), 50_000_000)
    with charges.operation("active message whose first packet comes last"):
        tasks.run(settled(tasks.machine, _two(one, handler, here)))
    with charges.operation("end"):
        tasks.run(one.Term(), other.Term())


async def _complete(lapi: Lapi, call: Awaitable[Any], counter: int, value: int) -> None:
    """Run a call and wait for its counter."""
    await call
    await lapi.Waitcntr(counter, value)


async def _counters(lapi: Lapi, counter: int) -> None:
    await lapi.Setcntr(counter, 3)
    await lapi.Waitcntr(counter, await lapi.Getcntr(counter))


async def _environment(lapi: Lapi) -> None:
    await lapi.Senv(Query.TIMEOUT, await lapi.Qenv(Query.TIMEOUT))


async def _fenced(lapi: Lapi, call: Awaitable[Any]) -> None:
    await call
    await lapi.Fence()


async def _served(lapi: Lapi, counter: int) -> None:
    """Wait until a task's packet has been requested again."""
    await lapi.Waitcntr(counter, 1)
    await lapi.hal.wait(lambda: False, lapi.host.now + 3_000_000_000)


async def _after(tasks: Tasks, duration: int) -> None:
    await tasks.machine.kernel.sleep(duration)


async def _two(lapi: Lapi, handler: int, here: int) -> None:
    """Two messages of two packets: the first packet of one of them takes the late route."""
    await lapi.Amsend(1, handler, b"user", 4, here, MOST)
    await lapi.Amsend(1, handler, b"", 0, here, 0)
    await lapi.Amsend(1, handler, b"user", 4, here, MOST)
