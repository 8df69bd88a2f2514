"""Main loop of a firmware: watches, and the handlers that run when they hit."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from firmware.verbs import Answer, Nic, PollLoop, Watch
from pymodels.registers import Reg

Step = Callable[[], Awaitable[int | None]]
Service = tuple[Watch, Step]
"""Watch of the polling loop, and the handler that runs when it hits.

If the handler returns a value, the watch compares with it from then on.
"""


class Watched:
    """SRAM word that several polling loops watch and compare with the same value."""

    def __init__(self, address: int, expect: int, path: str) -> None:
        self.watch = Watch(address, expect, path)
        self._expected = expect
        self._steps: list[tuple[PollLoop, int]] = []

    def joined(self, loop: PollLoop, step: int) -> None:
        """Add a loop, with the index of its step, to those that watch the word."""
        self._steps.append((loop, step))

    def expect(self, value: int) -> None:
        """Change the value that all loops compare the word with."""
        if value != self._expected:
            self._expected = value
            for loop, step in self._steps:
                loop.expect(step, value)


WatchedService = tuple[Watch | Watched, Step]
"""Service whose watch may be a `Watched`."""


class Loop:
    """Polling loop of services. A firmware with a single loop uses `serve`."""

    def __init__(self, nic: Nic, services: Sequence[WatchedService]) -> None:
        looks = [look.watch if isinstance(look, Watched) else look for look, _ in services]
        self._loop = nic.poll_loop(looks)
        self.steps = [step for _, step in services]
        """Handlers by the index that `run` returns."""
        for number, (look, _) in enumerate(services):
            if isinstance(look, Watched):
                look.joined(self._loop, number)

    def run(self) -> Awaitable[int]:
        """Poll the watches cyclically until one hits, and return its index."""
        return self._loop.run()


async def begin(nic: Nic, answer: Answer) -> int:
    """Execute the first actions of an answer and return the value that was read."""
    if answer.clears:
        nic.write(Reg.ISR, answer.clears)
    if answer.path:
        await (nic.work(answer.path) if answer.reads is None else nic.work_on(answer.path))
    return 0 if answer.reads is None else await nic.read(answer.reads)


async def answered(nic: Nic, watch: Watch) -> tuple[int, int, int]:
    """Complete the first actions after a hit of a watch with answers.

    Returns the value of the register, the index of the executed answer (the number of answers if none matched), and the
    value that was read.
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
    """Bit of ISR with its answer and the handler that runs next, with the value that the answer read."""

    def __init__(self, nic: Nic, answer: Answer, look: str, go_on: Callable[[int], Awaitable[None]]) -> None:
        """Create a reply; `look` is the path of one sample of the bit."""
        self._nic, self.answer, self.go_on = nic, answer, go_on
        self.watch = Watch(Reg.ISR, 0, look, answer.mask, register=True, answers=(answer,))

    async def all(self) -> None:
        """Execute the answer and the handler."""
        await self.go_on(await begin(self._nic, self.answer))

    async def hit(self) -> None:
        """Handle a hit of the reply's watch in a polling loop."""
        await self.go_on((await answered(self._nic, self.watch))[2])


async def serve(
    nic: Nic,
    services: Sequence[Service],
    before: Callable[[PollLoop], None] | None = None,
) -> None:
    """Poll services cyclically and run the handler of each that hits, without end.

    Args:
        nic: NIC that runs the firmware.
        services: Watches with handlers.
        before: Called with the loop before each run; its steps are the services.
    """
    loop = nic.poll_loop([watch for watch, _ in services])
    while True:
        if before is not None:
            before(loop)
        hit = await loop.run()
        expected = await services[hit][1]()
        if expected is not None:
            loop.expect(hit, expected)
