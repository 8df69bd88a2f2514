"""A firmware's main loop: what to look at, and what to do when it has changed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from firmware.verbs import Nic, PollLoop, Watch

Step = Callable[[], Awaitable[int | None]]
Service = tuple[Watch, Step]
"""A step of the polling loop, and what is done when it hits.

What that returns, if anything, is the value with which the step compares from then on.
"""


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
