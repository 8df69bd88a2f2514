"""Incoming messages and the destinations of their payload."""

from __future__ import annotations

from dataclasses import dataclass

from firmware.via.formats import Status
from firmware.via.nic.descriptors import Pages, Work
from firmware.via.nic.receive_queue import ReceiveQueue


class Scatter:
    """Scatter list: payload goes to the pages of a descriptor in order."""

    def __init__(self, pages: Pages, short: bool = False) -> None:
        """Create the list; `short` means one page, checked when the descriptor was read."""
        self._pages, self.short = pages, short
        self.address = self.left = 0
        """Physical address of the next byte, and number of bytes that fit there."""
        self.length = 0
        """Number of bytes received."""

    async def next_page(self) -> bool:
        """Advance to the next page; return False if there is none. Raises Refused."""
        page = await self._pages.take() if self._pages.more() else None
        if page is None:
            return False
        self.address, self.left = page
        return True

    def advance(self, size: int) -> None:
        """Account for `size` bytes that are being delivered."""
        self.address += size
        self.left -= size
        self.length += size

    def forget_page(self) -> None:
        """Translate the rest of the page again before its next use."""
        if self.left and self._pages.untake(self.left):
            self.left = 0


class Incoming(Scatter):
    """Message arriving in a receive descriptor."""

    def __init__(self, queue: ReceiveQueue, work: Work, read_ahead: bool) -> None:
        """Create the message.

        Args:
            queue: Receive queue of the descriptor.
            work: Descriptor.
            read_ahead: True if the descriptor has been freed in the queue cache.
        """
        super().__init__(work.pages, work.short)
        self._queue, self.work, self._read_ahead = queue, work, read_ahead
        self.operation = Status(0)
        """Status bits of the received operation."""
        self.immediate: int | None = None

    @property
    def descriptor(self) -> int:
        """Physical address of the user's descriptor, or 0 if its memory was deregistered."""
        return self.work.descriptor

    def rewind(self) -> bool:
        """Return the descriptor to its queue for another message. Return False if part of it is freed."""
        if not self._pages.whole:
            return False
        if self._read_ahead:
            self._pages.again()
            self._queue.ahead.appendleft(self.work)
        else:
            self._queue.cache.back()
        return True

    async def finish(self) -> None:
        """Finish with the descriptor and free its words."""
        await self._pages.skip()
        if not self._read_ahead:
            self._queue.cache.free()


@dataclass
class IncomingWrite:
    """Incoming RDMA write, with the address of its next byte."""

    va: int
    handle: int
    length: int = 0
    """Number of bytes received."""
    page: int = -1
    """Index in the region of the page with the known frame; -1 for none."""
    frame: int = 0
    refused: bool = False
    """True if a packet of the write was rejected."""
