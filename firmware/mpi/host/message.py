"""Incoming message of an application, whose receive is posted before or after its arrival."""

from __future__ import annotations

from typing import Protocol

from firmware.mpi.host.copying import Copier
from firmware.mpi.host.envelope import Kind, Mode
from firmware.mpi.host.errors import ErrorClass, Misuse
from firmware.mpi.host.matching import Key
from firmware.mpi.host.operation import Operation
from firmware.verbs import Host


class Owner(Protocol):
    """Parts of the engine that a message needs."""

    host: Host
    copier: Copier

    def arrived(self, message: Message) -> None:
        """Note that a message has met its receive."""


class Message:
    """Incoming message (an `Arrival`).

    Its data are copied once into the receive's buffer. Those of an early message are copied into a buffer of its own
    first.
    """

    def __init__(self, owner: Owner, key: Key, kind: Kind, mode: Mode, size: int, number: int) -> None:
        """Create the message; `number` is that of the send."""
        self.key, self.mode, self.size, self.number = key, mode, size, number
        self.asks = kind is Kind.REQUEST
        """True for a request for permission to send, which carries no data."""
        self.receive: Operation | None = None
        self.direct = False
        """True if the receive was posted before the first byte."""
        self.whole = False
        self._owner = owner
        self._data = bytearray(0 if self.asks else size)

    async def put(self, offset: int, data: bytes | memoryview, placed: bool = False) -> None:
        """Store a part of the data; bytes beyond the receive's buffer are dropped."""
        if self.direct and self.receive:
            data = data[: max(self.receive.view.size - offset, 0)]
        self._data[offset : offset + len(data)] = data if placed else await self._owner.copier.copy(data)

    def show(self, data: bytes | memoryview) -> None:
        """Make data visible in the buffer of a receive posted before them."""
        if self.direct and self.receive and self.receive.view.contiguous:
            self.receive.view.fill(data[: self.receive.view.size])

    async def end(self) -> None:
        """Complete the message."""
        if self.asks:
            return
        self.whole = True
        if self.receive:
            await self.deliver()

    async def deliver(self) -> None:
        """Store the data in the buffer of the receive."""
        receive, host = self.receive, self._owner.host
        assert receive is not None
        view = receive.view
        if self.size > view.size:
            cause = f"{self.size} bytes of rank {self.key.source}, tag {self.key.tag}, for a receive of {view.size}"
            receive.error = Misuse(ErrorClass.TRUNCATE, cause, "receive into a larger buffer")
        data = self._data[: view.size]
        if not self.direct and data:
            data = bytearray(await self._owner.copier.copy(data))
        if not view.contiguous and view.blocks:
            await host.spend("mpi_block", view.blocks)
        view.fill(data)
        await host.spend("mpi_complete")
        receive.received(self.key.source, self.key.tag, self.size)
        self._owner.arrived(self)


class _Nothing:
    """Message for the engine itself, without data."""

    async def put(self, offset: int, data: bytes | memoryview, placed: bool = False) -> None:
        """Do nothing."""

    def show(self, data: bytes | memoryview) -> None:
        """Do nothing."""

    async def end(self) -> None:
        """Do nothing."""


NOTHING = _Nothing()
