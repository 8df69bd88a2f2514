"""Descriptors in the NIC's form, whether read from physical descriptors or from users' own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from firmware.via.formats import Control, Status
from firmware.via.nic.layout import Kind
from firmware.via.nic.queue_cache import QueueCache

RIGHT = Status(0)
"""Status of a valid descriptor."""


Meanwhile = Callable[[], Awaitable[None]]
"""Work that is done while a descriptor is being fetched."""


class Refused(Exception):  # noqa: N818 - becomes the status of a descriptor, not an error of the firmware
    """Descriptor that names memory which it may not use."""

    def __init__(self, status: Status) -> None:
        super().__init__(status)
        self.status = status


class Pages(Protocol):
    """Pages of a descriptor, in order."""

    whole: bool
    """True if the descriptor can be read again from its queue."""

    def more(self) -> bool:
        """Return True if pages are left."""

    async def take(self) -> tuple[int, int] | None:
        """Return physical address and size of the next page, or None if the entry has not arrived. Raises Refused."""

    async def skip(self) -> None:
        """Skip the remaining pages."""

    def untake(self, left: int) -> bool:
        """Put the last `left` bytes of the last page back for a new translation. Return False for translations by the
        host.
        """

    def again(self) -> None:
        """Restart at the first page."""


@dataclass
class Work:
    """Contents of a descriptor."""

    kind: Kind
    vi: int
    descriptor: int
    """Physical address of the user's descriptor, or 0 if no descriptor can hold a status."""
    length: int
    pages: Pages
    home: int = 0
    """Handle of the descriptor's region, or 0 if the kernel guarantees that the region stays registered."""
    target: bytes = b""
    """Virtual address and handle at the target of an RDMA operation."""
    into: Pages | None = None
    """Pages for the data of an RDMA read, or None for other operations."""
    immediate: bytes = b""
    inline: bytes | None = None
    """Message that came with the descriptor, or None."""
    status: Status = RIGHT
    """Error in the descriptor, if any."""
    short: bool = False
    """True for a single segment in one page and one packet, checked when the descriptor was read."""
    node: int = -1
    """Destination of a kernel agent's message; -1 for the VI's peer."""

    @property
    def asks(self) -> Control:
        """Operation and immediate flag, encoded as in a user's control field, for the trace."""
        operation = {Kind.WRITE: Control.RDMA_WRITE, Kind.READ: Control.RDMA_READ}.get(self.kind, Control.SEND_RECEIVE)
        return operation | Control.IMMEDIATE if self.immediate else operation


class Reader(Protocol):
    """Reader of descriptors from queue caches."""

    async def send(self, cache: QueueCache) -> Work:
        """Return the next descriptor of a send queue."""

    async def receive(self, cache: QueueCache, meanwhile: Meanwhile | None = None) -> Work:
        """Return the next descriptor of a receive queue; `meanwhile` runs once during the fetch."""
