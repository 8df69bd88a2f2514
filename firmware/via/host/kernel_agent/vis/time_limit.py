"""Time limit of reliable sends: a connection without an acknowledgement breaks (readings C11).

The limit starts when a message has left. The NIC counts sends that have left and sends that are over, and the kernel
reads the counts periodically while sends are posted. Words that a process writes are not used.
"""

from __future__ import annotations

from firmware.via.host.kernel_agent.vis.context import ViContext
from firmware.via.host.kernel_agent.vis.shared import Shared
from firmware.via.nic.layout import Command, State, Vi

MASK, SIGN = 0xFFFFFFFF, 1 << 31
LOOKS = 8
"""Number of checks in one time limit; a connection breaks late by one such interval at most."""


class TimeLimit:
    """Time limit of the sends of one VI."""

    def __init__(self, shared: Shared, vi: ViContext, before: TimeLimit | None) -> None:
        """Create the limit; `before` is that of the last VI of this number."""
        self._vi, self._layout = vi, shared.layout
        self._host, self._limit = shared.host, shared.options.timeout_us * 1_000_000
        self._posted: int = 0 if before is None else before._posted
        """Number of posted sends of reliable connections, since the start."""
        self._watched = False

    def posted(self) -> None:
        """Count a posted send of a reliable connection."""
        self._posted = self._posted + 1 & MASK
        if self._limit and not self._watched:
            self._watched = True
            self._host.spawn(self._watch(), f"time limit of VI {self._vi.number}")

    async def _watch(self) -> None:
        """Break the connection if no send ends within a time limit while some await acknowledgements."""
        seen, since = -1, self._host.now
        while self._vi.state is State.CONNECTED:
            await self._host.sleep(max(self._limit // LOOKS, 1), "a reliable send to be answered")
            over, left = await self._count(Vi.ANSWERED), await self._count(Vi.LEFT)
            if not 0 < (self._posted - over & MASK) < SIGN:
                break
            if over != seen or over == left:
                seen, since = over, self._host.now
            elif self._host.now - since >= self._limit:
                await self._vi.close(Command.BREAK)
        self._watched = False

    async def _count(self, word: Vi) -> int:
        return await self._host.pio_read(self._host.nic_base + self._layout.vi(self._vi.number, word))
