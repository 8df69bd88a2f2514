"""A message that arrives, and where its payload goes."""

from __future__ import annotations

from dataclasses import dataclass

from firmware.via.formats import Status
from firmware.via.nic.descriptors import Pages, Work
from firmware.via.nic.receive_queue import ReceiveQueue


class Scatter:
    """Payload goes to the pages of a descriptor, one after the other."""

    def __init__(self, pages: Pages, short: bool = False) -> None:
        """`short`: it is one page, which was looked at when the descriptor was read."""
        self._pages, self.short = pages, short
        self.address = self.left = 0
        """Where the next byte goes, and how many fit there."""
        self.length = 0
        """Bytes that have come."""

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
        """Look the rest of the page up again before it is used."""
        if self.left and self._pages.untake(self.left):
            self.left = 0


class Incoming(Scatter):
    """A message that arrives in a receive descriptor."""

    def __init__(self, queue: ReceiveQueue, work: Work, read_ahead: bool) -> None:
        """`queue`: from which the descriptor was taken; `read_ahead`: it stands no longer in the queue cache."""
        super().__init__(work.pages, work.short)
        self._queue, self.work, self._read_ahead = queue, work, read_ahead
        self.operation = Status(0)
        """Bits of its status: what came."""
        self.immediate: int | None = None

    @property
    def descriptor(self) -> int:
        """Physical address of the user's descriptor; 0: it stands in memory that was given back."""
        return self.work.descriptor

    def rewind(self) -> bool:
        """Use the descriptor again for another message; False when a part of it is gone."""
        if not self._pages.whole:
            return False
        if self._read_ahead:
            self._pages.again()
            self._queue.ahead.appendleft(self.work)
        else:
            self._queue.cache.back()
        return True

    async def finish(self) -> None:
        """The descriptor is used."""
        await self._pages.skip()
        if not self._read_ahead:
            self._queue.cache.free()


@dataclass
class IncomingWrite:
    """An RDMA write that arrives: where its next byte goes."""

    va: int
    handle: int
    length: int = 0
    """Bytes that have come."""
    page: int = -1
    """Index, in the region, of the page whose frame is known."""
    frame: int = 0
    refused: bool = False
    """A piece of it may not go there."""
