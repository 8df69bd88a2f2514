"""The descriptors of a VI that the NIC still holds, as the kernel knows it without trusting any word of a process.

A descriptor is over when the NIC has freed its place in the queue cache; a send of a reliable connection when the NIC
has also counted it: it waits for an answer behind that. What is over may still be on its way to host memory: who gives
memory back lets the NIC finish that first (`Command.FENCE`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from firmware.verbs import Host
from firmware.via.host.kernel_agent.memory.registry import Region
from firmware.via.host.kernel_agent.rings.cache import Cache, Entry

MASK = 0xFFFFFFFF
LOOKS = 16
"""So often the kernel looks whether a descriptor with a status is over: the NIC may write the status first."""


@dataclass
class Posted:
    """A descriptor that the NIC has, or that waits for room there."""

    va: int
    entry: Entry
    regions: tuple[Region, ...]
    number: int | None
    """Of the VI's sends that are answered, from 1; None: nobody answers."""


class Outstanding:
    """The descriptors of one work queue, in their order."""

    def __init__(
        self, host: Host, cache: Cache, counter: int, claims: Callable[[int], int], before: Outstanding | None
    ) -> None:
        """`counter`: where in its memory the NIC counts answered sends; `claims`: the status that a process sees;
        `before`: those of the last VI of this number, which are over.
        """
        self._host, self._cache, self._counter, self._claims = host, cache, counter, claims
        self._posted: deque[Posted] = deque()
        self._given: int = 0 if before is None else before._given
        self._over = self._given

    def __len__(self) -> int:
        return len(self._posted)

    def add(self, va: int, entry: Entry, regions: tuple[Region, ...], answered: bool) -> None:
        """A descriptor is given to the NIC."""
        if answered:
            self._given = self._given + 1 & MASK
        self._posted.append(Posted(va, entry, regions, self._given if answered else None))

    async def look(self) -> None:
        """Forget what is over; look more than once where a status says so already."""
        for _ in range(LOOKS):
            await self._cache.look()
            if any(posted.number is not None for posted in self._posted):
                self._over = await self._host.pio_read(self._host.nic_base + self._counter)
            while self._posted and self._is_over(self._posted[0]):
                self._posted.popleft()
            if not (self._posted and self._claims(self._posted[0].va)):
                return

    def _is_over(self, posted: Posted) -> bool:
        answered = posted.number is None or (self._over - posted.number & MASK) < 1 << 31
        return answered and self._cache.done(posted.entry)

    async def uses(self, region: Region) -> bool:
        """Whether the NIC may still use a region."""
        if any(region in posted.regions for posted in self._posted):
            await self.look()
        return any(region in posted.regions for posted in self._posted)
