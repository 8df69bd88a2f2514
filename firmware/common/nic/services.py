"""A firmware's main loop: what to look at, and what to do when it has changed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from firmware.verbs import Answer, Nic, PollLoop, Watch
from pymodels.registers import Reg

Step = Callable[[], Awaitable[int | None]]
Service = tuple[Watch, Step]
"""A step of the polling loop, and what is done when it hits.

What that returns, if anything, is the value with which the step compares from then on.
"""


class Watched:
    """A word of SRAM that polling loops look at, and the value that all of them compare it with."""

    def __init__(self, address: int, expect: int, path: str) -> None:
        self.watch = Watch(address, expect, path)
        self._expected = expect
        self._steps: list[tuple[PollLoop, int]] = []

    def joined(self, loop: PollLoop, step: int) -> None:
        """A loop looks at it."""
        self._steps.append((loop, step))

    def expect(self, value: int) -> None:
        """From now on it is compared with another value."""
        if value != self._expected:
            self._expected = value
            for loop, step in self._steps:
                loop.expect(step, value)


Looked = tuple[Watch | Watched, Step]
"""A service whose word may be a `Watched`."""


class Loop:
    """A polling loop made of services. A firmware that has one only writes `serve`."""

    def __init__(self, nic: Nic, services: Sequence[Looked]) -> None:
        looks = [look.watch if isinstance(look, Watched) else look for look, _ in services]
        self._loop = nic.poll_loop(looks)
        self.steps = [step for _, step in services]
        """What is done, by what `run` gives."""
        for number, (look, _) in enumerate(services):
            if isinstance(look, Watched):
                look.joined(self._loop, number)

    def run(self) -> Awaitable[int]:
        """Look at one after the other, round and round, until one has changed: which."""
        return self._loop.run()


async def begin(nic: Nic, answer: Answer) -> int:
    """Do what an answer begins with; what was read."""
    if answer.clears:
        nic.write(Reg.ISR, answer.clears)
    if answer.path:
        await (nic.work(answer.path) if answer.reads is None else nic.work_on(answer.path))
    return 0 if answer.reads is None else await nic.read(answer.reads)


async def answered(nic: Nic, watch: Watch) -> tuple[int, int, int]:
    """The first thing behind a hit of a watch with answers: what the register held, the number of the answer that has
    begun (that of answers: none has), the value that it has read.
    """
    begun = nic.begun(watch)
    if begun is not None:
        return begun
    flags = await nic.read(watch.address) if watch.reads else watch.mask
    for number, answer in enumerate(watch.answers):
        if flags & answer.mask:
            return flags, number, await begin(nic, answer)
        await nic.work_on(answer.passed)
    return flags, len(watch.answers), 0


class Reply:
    """A bit of ISR, how its answer begins, and what is done behind that, with the value that was read."""

    def __init__(self, nic: Nic, answer: Answer, look: str, go_on: Callable[[int], Awaitable[None]]) -> None:
        """`look`: the path of a look at it."""
        self._nic, self.answer, self.go_on = nic, answer, go_on
        self.watch = Watch(Reg.ISR, 0, look, answer.mask, register=True, answers=(answer,))

    async def all(self) -> None:
        """All of it."""
        await self.go_on(await begin(self._nic, self.answer))

    async def hit(self) -> None:
        """What is done when a polling loop has hit by its watch."""
        await self.go_on((await answered(self._nic, self.watch))[2])


async def serve(
    nic: Nic,
    services: Sequence[Service],
    before: Callable[[PollLoop], None] | None = None,
) -> None:
    """Look at one after the other, round and round, and do what belongs to the one that has changed, for ever.

    `before`: done before each run of the loop, whose steps are the services.
    """
    loop = nic.poll_loop([watch for watch, _ in services])
    while True:
        if before is not None:
            before(loop)
        hit = await loop.run()
        expected = await services[hit][1]()
        if expected is not None:
            loop.expect(hit, expected)
