"""A firmware's main loop: what to look at, and what to do when it has changed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from firmware.verbs import Nic, PollLoop, Watch

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
