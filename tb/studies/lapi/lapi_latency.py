"""What does each LAPI call take when the other task polls, and when packets interrupt it?

Strategy: one task on the first host and one on the last. Puts and active messages go back and forth; half of a round
trip is the one-way time. A get and an `Rmw` are timed from the call to the increment of their counter. In the second
half the far task has interrupts enabled, and reads its counter in a loop without LAPI calls until the counter changes;
then it replies. All data are compared, and the sum of all `Rmw` is checked.
"""

from __future__ import annotations

import statistics
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from firmware.lapi.host import Lapi, Place, Query, Rmw
from tb.lab.lab import Lab
from tb.plan.options import Option, stack_options
from tb.studies.kit.findings import curve
from tb.studies.kit.hosts import together
from tb.studies.kit.rounds import Trips, round_trips

LAYER = "lapi"
CLUSTER = "sp_board"
SIZES = (4, 64, 900, 4096)
OPTIONS = {
    "repetitions": Option(1, "times each call is made", 1, 100_000),
    "largest": Option(SIZES[-2], "most bytes of a message", SIZES[0], SIZES[-1], unit="bytes"),
    **stack_options(LAYER),
}
QUICK = "repetitions=1"
VARIANTS = {"ppc604": ("sp+ppc604-332", f"repetitions=3 largest={SIZES[-1]}")}
"""Nodes of paper 001, chapter 6."""
UHDR = bytes(24)
"""User header of active messages, as long as MPI's envelope."""
REST_PS = 30_000_000
"""Pause before a call that interrupts, ps; longer than the far task is busy with the previous call."""


class End:
    """Task with memory, a counter incremented by the other task, and one for its own calls."""

    def __init__(self, lapi: Lapi) -> None:
        self.lapi, self.process = lapi, lapi.process
        self.memory = self.process.allocate(3 * SIZES[-1])
        self.out, self.came, self.mine = self.memory, self.memory + SIZES[-1], self.memory + 2 * SIZES[-1]
        self.raised = self.mine + 4
        self.word = self.mine + 8
        self.other: End
        self.spins = False
        """True if the task waits by reading its counter, without LAPI calls."""
        self.hdr_hdl, self.hdr_hdl_completed = lapi.handler(self._header), lapi.handler(self._header_completed)

    async def _header(self, source: int, uhdr: bytes, size: int) -> Place:
        return Place(self.came)

    async def _header_completed(self, source: int, uhdr: bytes, size: int) -> Place:
        return Place(self.came, _nothing)

    async def put(self, size: int) -> None:
        """Put bytes into the other task's memory."""
        await self.lapi.Put(self.other.lapi.me, size, self.other.came, self.out, tgt_cntr=self.other.raised)

    async def amsend(self, size: int) -> None:
        """Send bytes as an active message."""
        await self._amsend(self.other.hdr_hdl, size)

    async def amsend_completed(self, size: int) -> None:
        """Send bytes as an active message with a completion handler."""
        await self._amsend(self.other.hdr_hdl_completed, size)

    async def _amsend(self, hdr_hdl: int, size: int) -> None:
        other, raised = self.other.lapi.me, self.other.raised
        await self.lapi.Amsend(other, hdr_hdl, UHDR, len(UHDR), self.out, size, tgt_cntr=raised)

    async def get(self, size: int) -> None:
        """Get bytes from the other task."""
        await self.lapi.Get(self.other.lapi.me, size, self.other.out, self.came, org_cntr=self.mine)
        await self.lapi.Waitcntr(self.mine, 1)

    async def rmw(self) -> None:
        """Add one to a word of the other task."""
        await self.lapi.Rmw(Rmw.FETCH_AND_ADD, self.other.lapi.me, self.other.word, 1, org_cntr=self.mine)
        await self.lapi.Waitcntr(self.mine, 1)

    async def wait(self) -> None:
        """Wait until the other task has incremented the counter."""
        if self.spins:
            await self.process.poll([(self.raised, 0)], "hal_look")
        await self.lapi.Waitcntr(self.raised, 1)

    async def settled(self, part: Awaitable[Any]) -> Any:
        """Run a call and wait until the other task, which replies in any mode, has received all of it."""
        result = await part
        await self.lapi.Senv(Query.INTERRUPT_SET, 1)
        await self.lapi.Fence()
        return result


async def _nothing(lapi: Lapi, argument: object) -> None:
    """Do nothing (completion handler)."""


@dataclass
class Pair:
    """The two tasks and their timing."""

    lab: Lab
    near: End
    far: End
    times: int
    sizes: tuple[int, ...]

    async def both(self, near: Callable[[], Awaitable[None]], far: Callable[[], Awaitable[None]]) -> Trips:
        """Run one call in the near task and another in the far task repeatedly. Return the near task's times."""

        async def serve() -> None:
            for _ in range(self.times):
                await far()

        return await self._settled(self._timed(near, 2), serve())

    async def _timed(self, call: Callable[[], Awaitable[None]], messages: int) -> Trips:
        """Return the time of each repetition of a call."""

        async def ask(number: int) -> None:
            await call()

        pause = (lambda: REST_PS) if self.far.spins else None
        return await round_trips(self.lab, self.times, ask, pause=pause, messages=messages)

    async def _settled(self, near: Awaitable[Trips], far: Awaitable[None]) -> Trips:
        """Run both tasks until lost packets are retransmitted. Return the near task's times."""
        trips: Trips = (await together(self.lab, "task", [self.near.settled(near), self.far.settled(far)]))[0]
        for end in (self.near, self.far):
            await end.lapi.Senv(Query.INTERRUPT_SET, int(end.spins))
        return trips

    async def one_way(self, send: Callable[[End, int], Awaitable[None]], size: int) -> float:
        """Return half of a round trip, us."""
        near, far = self.near, self.far

        async def there() -> None:
            await send(near, size)
            await near.wait()

        async def back() -> None:
            await far.wait()
            await send(far, size)

        took = await self.both(there, back)
        self.lab.check("returned bytes", _came(near, size) == _sent(far, size), f"{size} bytes returned corrupted")
        self.lab.check("received bytes", _came(far, size) == _sent(near, size), f"{size} bytes arrived corrupted")
        return statistics.median(took.us) / 2

    async def served(self, call: Callable[[], Awaitable[None]]) -> float:
        """Return the time of a call that needs only the far task's service, us; then end that task by an empty put."""

        async def ask() -> Trips:
            trips = await self._timed(call, 1)
            await self.near.put(0)
            return trips

        return statistics.median((await self._settled(ask(), self.far.wait())).us)


async def run(lab: Lab) -> None:
    """Run the study."""
    tasks: list[Lapi] = lab.start_layer(LAYER)
    await together(lab, "LAPI_Init", [one.Init() for one in tasks])
    near, far = End(tasks[0]), End(tasks[-1])
    near.other, far.other = far, near
    for end in (near, far):
        end.process.store_bytes(end.out, bytes((7 * at + end.lapi.me + 1) & 0xFF for at in range(SIZES[-1])))
    sizes = tuple(size for size in SIZES if size <= lab.option("largest"))
    pair = Pair(lab, near, far, lab.option("repetitions"), sizes)
    await _measure(lab, pair, "")
    await far.lapi.Senv(Query.INTERRUPT_SET, 1)
    far.spins = True
    await _measure(lab, pair, "_interrupt")
    await together(lab, "LAPI_Term", [one.Term() for one in tasks])
    (sum_of_all,) = far.process.load_words(far.word, 1)
    lab.check("word of all Rmw", sum_of_all == 2 * pair.times, f"the word of all Rmw is {sum_of_all}")
    lab.metric("resent", sum(one.outgoing.resent for one in tasks))


async def _measure(lab: Lab, pair: Pair, mode: str) -> None:
    """Time all calls; `mode` is part of the metric names."""
    ways = {"put": End.put, "amsend": End.amsend, "amsend_completed": End.amsend_completed}
    found = {}
    for name, send in ways.items():
        times = found[name] = [await pair.one_way(send, size) for size in pair.sizes]
        curve(lab, name + mode, pair.sizes, times, "B", "us", f"{name}{mode}_us_{{}}B")
    slower = sum(put >= amsend for put, amsend in zip(found["put"], found["amsend"], strict=True))
    lab.metric(f"sizes_put_not_below_amsend{mode}", slower)
    got = []
    for size in pair.sizes:
        got.append(await pair.served(lambda: pair.near.get(size)))  # noqa: B023 - it is called at once
        lab.check(
            "bytes of a Get", _came(pair.near, size) == _sent(pair.far, size), f"{size} bytes that were got are others"
        )
    curve(lab, f"get{mode}", pair.sizes, got, "B", "us", f"get{mode}_us_{{}}B")
    lab.metric(f"rmw{mode}_us", await pair.served(pair.near.rmw))


def _came(end: End, size: int) -> bytes:
    return end.process.load_bytes(end.came, size)


def _sent(end: End, size: int) -> bytes:
    return end.process.load_bytes(end.out, size)
