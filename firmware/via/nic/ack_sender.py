"""Outgoing acknowledgements, positive and negative (readings C11).

The port has one packet at a time; acknowledgements have priority over messages.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from firmware.via.formats import Header, Kind
from firmware.via.nic.connection import Connection
from firmware.via.nic.endpoint import Endpoint
from firmware.via.nic.ni import Ni
from pymodels.trace import TraceEvent


class Due(NamedTuple):
    """Acknowledgement to be sent after the given number of stores."""

    stores: int
    endpoint: Endpoint
    connection: Connection
    kind: Kind
    number: int
    last: bool
    message: int
    """Number of the message in the trace."""


class AckSender:
    """Sender of acknowledgements: at once, or after the acknowledged data are in host memory."""

    def __init__(self, ni: Ni) -> None:
        self._ni, self._nic, self._port = ni, ni.nic, ni.port
        self._due: deque[Due] = deque()
        """Acknowledgements that wait for stores."""
        self._queue: deque[tuple[int, tuple[int, int], int]] = deque()
        """Node, header and answered message of acknowledgements that wait for the port."""

    async def send(self, to: Connection, kind: Kind, number: int, message: int, last: bool = True) -> None:
        """Send an acknowledgement, now or when the port is free.

        Args:
            to: Connection of the message.
            kind: Positive (DONE), or the reason of a NACK.
            number: Number of the message.
            message: Number of the message in the trace.
            last: Value of the header's flag `last`.
        """
        await self._nic.work("answer")
        words = Header(self._ni.me, to.number, self._ni.number(), 0, to.peer, kind, True, last, number).words()
        sent = TraceEvent.ACK_SENT if kind == Kind.DONE else TraceEvent.NACK_SENT
        self._nic.trace(sent, words[0], to.node, to.peer, message=message)
        self._queue.append((to.node, words, message))
        if self._port.ready():
            await self._launch()

    async def send_stored(self, endpoint: Endpoint, number: int, message: int) -> None:
        """Acknowledge a complete message once all data given to the port so far are in host memory."""
        await self._nic.work("await_stored")
        self._due.append(Due(self._ni.stores, endpoint, endpoint.connection, Kind.DONE, number, True, message))
        await self.stored()

    async def refuse(self, endpoint: Endpoint, kind: Kind, number: int, message: int, last: bool) -> None:
        """Send a NACK for a message, with the reason, after the acknowledgements of earlier messages."""
        stores = self._due[-1].stores if self._due else 0
        self._due.append(Due(stores, endpoint, endpoint.connection, kind, number, last, message))
        await self.stored()

    async def stored(self) -> None:
        """Send the acknowledgements whose data have reached host memory."""
        while self._due and self._due[0].stores <= self._port.stored:
            due = self._due.popleft()
            await self._nic.caught_up()
            due.endpoint.state()
            if due.endpoint.connection is due.connection:
                await self.send(due.connection, due.kind, due.number, due.message, due.last)

    async def launched(self) -> bool:
        """Launch the next acknowledgement. Return False if there is none, so that a message may be sent."""
        if self._queue:
            await self._launch()
            return True
        return False

    async def _launch(self) -> None:
        node, header, message = self._queue.popleft()
        await self._port.launch(node, header, 0, message=message)
