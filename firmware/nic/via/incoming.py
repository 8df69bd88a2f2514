"""A message that arrives, and the receive descriptor that takes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firmware.nic.via.descriptors import Work
from pymodels.formats.via import Status

if TYPE_CHECKING:
    from firmware.nic.via.ni import Endpoint


class Incoming:
    """A receive descriptor in use."""

    def __init__(self, endpoint: Endpoint, work: Work, prefetched: bool) -> None:
        """`prefetched`: it stands no longer in the queue cache."""
        self._endpoint, self.work, self._prefetched = endpoint, work, prefetched
        self._pages = work.pages if work.into is None else work.into
        self.address = self.left = 0
        """Where the next byte goes, and how many fit there."""
        self.length = 0
        """Bytes that have come."""
        self.operation = Status(0)
        """Bits of its status: what came."""
        self.immediate: int | None = None

    @property
    def descriptor(self) -> int:
        """Physical address of the user's descriptor; 0: it stands in memory that was given back."""
        return self.work.descriptor

    async def next_page(self) -> bool:
        """Go on with the next page; False when there is none. Raises Refused."""
        page = await self._pages.take() if self._pages.more() else None
        if page is None:
            return False
        self.address, self.left = page
        return True

    def advance(self, size: int) -> None:
        """So many bytes are on their way."""
        self.address += size
        self.left -= size
        self.length += size

    def forget_page(self) -> None:
        """Look the rest of the page up anew before it is used."""
        if self.left and self._pages.untake(self.left):
            self.left = 0

    def rewind(self) -> bool:
        """Use the descriptor again for another message; False when a part of it is gone."""
        if not self._pages.whole:
            return False
        if self._prefetched:
            self._pages.again()
            self._endpoint.prefetched.appendleft(self.work)
        else:
            self._endpoint.receives.back()
        return True

    async def finish(self) -> None:
        """The descriptor is used."""
        await self._pages.skip()
        if not self._prefetched:
            self._endpoint.receives.free()
