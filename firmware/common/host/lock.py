"""Lock of software on one host: one task holds it at a time."""

from __future__ import annotations

from firmware.verbs import Host


class Lock:
    """Lock for `async with`. The user charges the costs of acquiring and releasing it."""

    def __init__(self, host: Host, what: str) -> None:
        """Create a free lock; `what` describes it in reports of waiting."""
        self._free = host.event(what)
        self._taken = False

    async def __aenter__(self) -> None:
        while self._taken:
            await self._free.wait()
        self._taken = True

    async def __aexit__(self, *_: object) -> None:
        self._taken = False
        self._free.set()
