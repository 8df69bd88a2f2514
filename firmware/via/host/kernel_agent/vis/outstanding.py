"""Descriptors of a VI that the NIC still holds, known to the kernel without trust in a process's words.

A descriptor is over when the NIC has freed it in the queue cache. A send of a reliable connection must also have been
counted by the NIC, after its acknowledgement. Writes for such a descriptor may still be in flight: before memory is
released, the NIC completes them (`Command.FENCE`).
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
"""Number of checks of a descriptor that has a status but is not over: the NIC may write the status first."""


@dataclass
class Posted:
    """Descriptor at the NIC, or waiting for room there."""

    va: int
    entry: Entry
    regions: tuple[Region, ...]
    number: int | None
    """Number among the VI's acknowledged sends, from 1, or None for other descriptors."""


class Outstanding:
    """Outstanding descriptors of one work queue, in order."""

    def __init__(
        self, host: Host, cache: Cache, counter: int, claims: Callable[[int], int], before: Outstanding | None
    ) -> None:
        """Create an empty list.

        Args:
            host: Host of the kernel agent.
            cache: Queue cache.
            counter: SRAM address of the NIC's counter of completed sends.
            claims: Returns the status that a process sees at an address.
            before: List of the last VI of this number, all of whose descriptors are over.
        """
        self._host, self._cache, self._counter, self._claims = host, cache, counter, claims
        self._posted: deque[Posted] = deque()
        self._given: int = 0 if before is None else before._given
        self._over = self._given

    def __len__(self) -> int:
        return len(self._posted)

    def add(self, va: int, entry: Entry, regions: tuple[Region, ...], answered: bool) -> None:
        """Add a descriptor that is given to the NIC."""
        if answered:
            self._given = self._given + 1 & MASK
        self._posted.append(Posted(va, entry, regions, self._given if answered else None))

    async def look(self) -> None:
        """Remove descriptors that are over. Repeats the check if the oldest one has a status already."""
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
        """Return True if the NIC may still use a region."""
        if any(region in posted.regions for posted in self._posted):
            await self.look()
        return any(region in posted.regions for posted in self._posted)
