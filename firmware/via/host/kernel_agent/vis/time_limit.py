"""Reliable sends that are never answered: their connection breaks (readings C11).

The limit counts from when a message has left: the NIC counts in its memory how many sends have left and how many are
over, and the kernel looks at that every now and then as long as some are posted. What a process says in a doorbell or
a status is not asked for.
"""

from __future__ import annotations

from firmware.via.host.kernel_agent.vis.context import ViContext
from firmware.via.host.kernel_agent.vis.shared import Shared
from firmware.via.nic.layout import Command, State, Vi

MASK, SIGN = 0xFFFFFFFF, 1 << 31
LOOKS = 8
"""So often in a limit of time the kernel looks: a connection breaks by that part of it later at most."""


class TimeLimit:
    """Of the sends of one VI."""

    def __init__(self, shared: Shared, vi: ViContext, before: TimeLimit | None) -> None:
        """`before`: of the last VI of this number."""
        self._vi, self._layout = vi, shared.layout
        self._host, self._limit = shared.host, shared.options.timeout_us * 1_000_000
        self._posted: int = 0 if before is None else before._posted
        """Sends of reliable connections, from the start."""
        self._watched = False

    def posted(self) -> None:
        """A send is, on a reliable connection."""
        self._posted = self._posted + 1 & MASK
        if self._limit and not self._watched:
            self._watched = True
            self._host.spawn(self._watch(), f"time limit of VI {self._vi.number}")

    async def _watch(self) -> None:
        """As long as sends are posted: one must be over in each limit of time in which some have left and are not."""
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
