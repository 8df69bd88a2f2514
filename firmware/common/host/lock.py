"""A lock of software on one host: one task at a time has it, the others wait."""

from __future__ import annotations

from firmware.verbs import Host


class Lock:
    """`async with lock:` waits until it is free. Its user charges what acquiring and releasing it costs."""

    def __init__(self, host: Host, what: str) -> None:
        """`what`: what those who wait are said to wait for."""
        self._free = host.event(what)
        self._taken = False

    async def __aenter__(self) -> None:
        while self._taken:
            await self._free.wait()
        self._taken = True

    async def __aexit__(self, *_: object) -> None:
        self._taken = False
        self._free.set()
