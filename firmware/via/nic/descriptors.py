"""A descriptor as the NIC uses it, however it came: physical, or the user's own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from firmware.via.formats import Control, Status
from firmware.via.nic.layout import Kind
from firmware.via.nic.queue_cache import QueueCache

RIGHT = Status(0)
"""Nothing is wrong."""


Meanwhile = Callable[[], Awaitable[None]]
"""What is done while a descriptor is on its way."""


class Refused(Exception):  # noqa: N818 - no error of the firmware: it becomes the status of a descriptor
    """A descriptor names memory that it may not: the status it gets."""

    def __init__(self, status: Status) -> None:
        super().__init__(status)
        self.status = status


class Pages(Protocol):
    """The pages of a descriptor, in their order."""

    whole: bool
    """The descriptor still stands where it was read from, and can be read again."""

    def more(self) -> bool:
        """Whether there is another page."""

    async def take(self) -> tuple[int, int] | None:
        """Physical address and bytes of the next one; None when it is not here yet. Raises Refused."""

    async def skip(self) -> None:
        """Pass over the rest."""

    def untake(self, left: int) -> bool:
        """Take so many bytes of the last page back, to look them up again; False when it was looked up by the host."""

    def again(self) -> None:
        """Start again; the queue cache was put back if it is still there."""


@dataclass
class Work:
    """What a descriptor asks for."""

    kind: Kind
    vi: int
    descriptor: int
    """Physical address of the user's descriptor; 0: there is none that could have a status."""
    length: int
    pages: Pages
    home: int = 0
    """Handle of the region in which it stands; 0: the kernel has looked, and sees to it that it stays."""
    target: bytes = b""
    """Of an RDMA write or read: virtual address and handle."""
    into: Pages | None = None
    """Of an RDMA read: the pages for its data; there are none to send."""
    immediate: bytes = b""
    inline: bytes | None = None
    """The message itself."""
    status: Status = RIGHT
    """What is wrong with it."""
    short: bool = False
    """One segment, which was looked at when the descriptor was read: it lies in one page, and goes in one packet."""
    node: int = -1
    """Where it goes, if not to the VI's peer: the kernel agents' messages."""

    @property
    def asks(self) -> Control:
        """Operation and immediate data, as in the control field of a user's descriptor: for the trace."""
        operation = {Kind.WRITE: Control.RDMA_WRITE, Kind.READ: Control.RDMA_READ}.get(self.kind, Control.SEND_RECEIVE)
        return operation | Control.IMMEDIATE if self.immediate else operation


class Reader(Protocol):
    """How descriptors are read from queue caches."""

    async def send(self, cache: QueueCache) -> Work:
        """The next descriptor of a send queue."""

    async def receive(self, cache: QueueCache, meanwhile: Meanwhile | None = None) -> Work:
        """The next one of a receive queue; `meanwhile` is done once."""
