"""A message of an application on its way in: on arrival its receive is known, or comes later."""

from __future__ import annotations

from typing import Protocol

from firmware.mpi.host.copying import Copier
from firmware.mpi.host.envelope import Kind, Mode
from firmware.mpi.host.errors import ErrorClass, Misuse
from firmware.mpi.host.matching import Key
from firmware.mpi.host.operation import Operation
from firmware.verbs import Host


class Owner(Protocol):
    """What a message needs of its engine."""

    host: Host
    copier: Copier

    def arrived(self, message: Message) -> None:
        """It is with its receive."""


class Message:
    """An `Arrival`. Its data are copied once into the receive's buffer, or, when it is early, into one of its own and
    from there once more.
    """

    def __init__(self, owner: Owner, key: Key, kind: Kind, mode: Mode, size: int, number: int) -> None:
        """`number` of the send."""
        self.key, self.mode, self.size, self.number = key, mode, size, number
        self.asks = kind is Kind.REQUEST
        """It brings no data: it asks whether they may be sent."""
        self.receive: Operation | None = None
        self.direct = False
        """The receive was there before the first byte."""
        self.whole = False
        self._owner = owner
        self._data = bytearray(0 if self.asks else size)

    async def put(self, offset: int, data: bytes | memoryview, placed: bool = False) -> None:
        """A part of its data; what the receive has no room for is dropped."""
        if self.direct and self.receive:
            data = data[: max(self.receive.view.size - offset, 0)]
        self._data[offset : offset + len(data)] = data if placed else await self._owner.copier.copy(data)

    def show(self, data: bytes | memoryview) -> None:
        """Its data, in the buffer of a receive that was there before them."""
        if self.direct and self.receive and self.receive.view.contiguous:
            self.receive.view.fill(data[: self.receive.view.size])

    async def end(self) -> None:
        """All is here."""
        if self.asks:
            return
        self.whole = True
        if self.receive:
            await self.deliver()

    async def deliver(self) -> None:
        """Into the buffer of its receive."""
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
    """A message that was for the engine itself."""

    async def put(self, offset: int, data: bytes | memoryview, placed: bool = False) -> None:
        """It has no data."""

    def show(self, data: bytes | memoryview) -> None:
        """It has none."""

    async def end(self) -> None:
        """Nothing is left to do."""


NOTHING = _Nothing()
