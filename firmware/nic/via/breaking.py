"""Reliable connections: answers, and what happens when one breaks (readings C11).

A message of a reliable VI is done when its target has answered: when its NIC has all of it (reliable delivery), or when
all of it is in memory (reliable reception). An answer names its message, and speaks for those before it, whose own
answers may be lost; of reads only the data do. Nothing is sent twice. A gap, a missing or short descriptor, a forbidden
RDMA write breaks the connection: its VIs go to the state ERROR, the message that failed says why in its status, and
everything else that is posted is flushed.
"""

from __future__ import annotations

from collections import deque
from itertools import islice
from typing import NamedTuple

from firmware.nic.via.completions import Completions
from firmware.nic.via.incoming import Incoming
from firmware.nic.via.layout import Event, State
from firmware.nic.via.ni import Connection, Endpoint, Ni
from firmware.nic.via.outlet import Outlet
from firmware.nic.via.receive_descriptors import ReceiveDescriptors
from pymodels.formats.via import Header, Kind, Status
from pymodels.trace import TraceEvent

VERDICTS = {
    Kind.NO_DESCRIPTOR: Status.REMOTE_DESCRIPTOR,
    Kind.TOO_LONG: Status.REMOTE_DESCRIPTOR,
    Kind.LOST: Status.TRANSPORT_ERROR,
    Kind.NOT_ALLOWED: Status.RDMA_PROTECTION,
}
"""What an answer that breaks the connection makes of the message."""


class Due(NamedTuple):
    """An answer that leaves when so many stores are done."""

    stores: int
    endpoint: Endpoint
    connection: Connection
    kind: Kind
    number: int
    last: bool


class Breaking:
    """Answers in and out."""

    def __init__(self, ni: Ni, outlet: Outlet, completing: Completions, receives: ReceiveDescriptors) -> None:
        self._ni, self._nic, self._port = ni, ni.nic, ni.port
        self._outlet, self._completing, self._receives = outlet, completing, receives
        self._awaiting: deque[Due] = deque()

    async def confirm(self, connection: Connection, number: int) -> None:
        """The message of this number is where its connection's level wants it."""
        await self._outlet.answer(connection, Kind.DONE, number, True)

    async def confirm_stored(self, endpoint: Endpoint, number: int) -> None:
        """A message is complete; answer when what was given to the port so far is in host memory."""
        await self._nic.work("await_stored")
        self._awaiting.append(Due(self._ni.stores, endpoint, endpoint.connection, Kind.DONE, number, True))
        await self.stored()

    async def stored(self) -> None:
        """More is in host memory."""
        while self._awaiting and self._awaiting[0].stores <= self._port.stored:
            due = self._awaiting.popleft()
            due.endpoint.state()
            if due.endpoint.connection is due.connection:
                await self._outlet.answer(due.connection, due.kind, due.number, due.last)

    async def answered(self, endpoint: Endpoint, header: Header) -> None:
        """The target of a message has answered."""
        await self._nic.work("answer_seen")
        seen = TraceEvent.ACK_SEEN if header.kind == Kind.DONE else TraceEvent.NACK_SEEN
        self._nic.trace(seen, self._port.head().header[0], header.source)
        if header.kind != Kind.DONE:
            await self.break_up(endpoint, VERDICTS[Kind(header.kind)], self._blamed(endpoint.connection, header))
            return
        unanswered = endpoint.connection.unanswered
        numbers = [one.number for one in unanswered]
        if header.sequence in numbers:  # all before it have come too: the target answers nothing behind a gap
            for one in islice(unanswered, numbers.index(header.sequence) + 1):
                one.over |= one.reading is None
        await self.complete(endpoint)

    @staticmethod
    def _blamed(connection: Connection, header: Header) -> int | None:
        """Which message an answer says has failed; None: one that has not left."""
        if header.kind != Kind.LOST or not header.last:
            return header.sequence
        numbers = [one.number for one in connection.unanswered]
        behind = numbers[numbers.index(header.sequence) + 1 :] if header.sequence in numbers else numbers
        return behind[0] if behind else None

    async def complete(self, endpoint: Endpoint) -> None:
        """Complete what is over, and behind nothing that is not."""
        unanswered = endpoint.connection.unanswered
        while unanswered and unanswered[0].over:
            done = unanswered.popleft()
            await self._completing.send(endpoint, done.descriptor, done.length, done.operation)

    async def refuse(self, endpoint: Endpoint, kind: Kind, number: int, last: bool = True) -> None:
        """Tell the peer which of its messages fails, and why, behind the answers to those before it. Then break the
        connection.
        """
        stores = self._awaiting[-1].stores if self._awaiting else 0
        self._awaiting.append(Due(stores, endpoint, endpoint.connection, kind, number, last))
        await self.stored()
        await self.break_up(endpoint, Status.FLUSHED)

    async def break_up(self, endpoint: Endpoint, verdict: Status, blamed: int | None = None) -> None:
        """The connection is no more: `verdict` is the status of the message that has failed."""
        await self._nic.work("break_up")
        self._nic.store(endpoint.words, endpoint.generation << 8 | State.ERROR)
        await self.flush(endpoint, verdict, blamed)
        await self._ni.tell(Event.BROKEN, endpoint.number, endpoint.generation & 0xFFFF)

    async def time_out(self, endpoint: Endpoint) -> None:
        """The oldest message was not answered in time."""
        unanswered = endpoint.connection.unanswered
        await self.flush(endpoint, Status.TRANSPORT_ERROR, unanswered[0].number if unanswered else None)

    async def flush(self, endpoint: Endpoint, verdict: Status = Status.FLUSHED, blamed: int | None = None) -> None:
        """Complete what is posted: the message of this number (None: the one that is sent) with `verdict`, all else as
        flushed.
        """
        connection = endpoint.connection
        connection.verdict, connection.blamed = verdict, blamed
        while connection.unanswered:
            done = connection.unanswered.popleft()
            if done.over:
                await self._completing.send(endpoint, done.descriptor, done.length, done.operation)
                continue
            wrong = verdict if done.number == blamed else Status.FLUSHED
            await self._completing.send(endpoint, done.descriptor, 0, done.operation | wrong)
        message, connection.receiving, connection.writing = connection.receiving, None, None
        if message is not None and not message.rewind():
            await self.end(endpoint, message, message.length, Status.FLUSHED)
        await self._receives.flush(endpoint)

    async def end(self, endpoint: Endpoint, message: Incoming, length: int, wrong: Status) -> None:
        """A receive descriptor is used up by a message that did not come whole."""
        await message.finish()
        await self._completing.receive(endpoint, message.descriptor, length, wrong)
