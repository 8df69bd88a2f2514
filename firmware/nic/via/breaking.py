"""Reliable connections: answers, and what happens when one breaks (readings C11).

A message of a reliable VI is done when its target has answered: when its NIC has all of it (reliable delivery), or when
all of it is in memory (reliable reception). Nothing is sent twice. A gap, a missing or short descriptor, a forbidden
RDMA write breaks the connection: its VIs go to the state ERROR, the message that failed says why in its status, and
everything else that is posted is flushed.
"""

from __future__ import annotations

from collections import deque

from firmware.nic.via.completing import Completing
from firmware.nic.via.incoming import Incoming
from firmware.nic.via.layout import Event, State
from firmware.nic.via.ni import Endpoint, Ni
from firmware.nic.via.outlet import Outlet
from firmware.nic.via.receives import Receives
from pymodels.formats.via import Kind, Status
from pymodels.trace import TraceEvent

VERDICTS = {
    Kind.NO_DESCRIPTOR: Status.REMOTE_DESCRIPTOR,
    Kind.TOO_LONG: Status.REMOTE_DESCRIPTOR,
    Kind.LOST: Status.TRANSPORT_ERROR,
    Kind.NOT_ALLOWED: Status.RDMA_PROTECTION,
}
"""What an answer that breaks the connection makes of the message."""


class Breaking:
    """Answers in and out."""

    def __init__(self, ni: Ni, outlet: Outlet, completing: Completing, receives: Receives) -> None:
        self._ni, self._nic, self._port = ni, ni.nic, ni.port
        self._outlet, self._completing, self._receives = outlet, completing, receives
        self._awaiting: deque[tuple[int, Endpoint, int]] = deque()
        """Messages that are answered when so many stores are done: stores, VI, its generation."""

    async def confirm(self, endpoint: Endpoint) -> None:
        """The NIC has all of a message."""
        await self._outlet.answer(endpoint.node, endpoint.peer, Kind.DONE)

    async def confirm_stored(self, endpoint: Endpoint) -> None:
        """A message is complete; answer when what was given to the port so far is in host memory."""
        await self._nic.work("await_stored")
        self._awaiting.append((self._ni.stores, endpoint, endpoint.generation))
        await self.stored()

    async def stored(self) -> None:
        """More is in host memory."""
        while self._awaiting and self._awaiting[0][0] <= self._port.stored:
            _, endpoint, generation = self._awaiting.popleft()
            if endpoint.state() is State.CONNECTED and endpoint.generation == generation:
                await self.confirm(endpoint)

    async def answered(self, endpoint: Endpoint, kind: Kind) -> None:
        """The target of a VI's oldest message has answered."""
        await self._nic.work("answer_seen")
        seen = TraceEvent.ACK_SEEN if kind == Kind.DONE else TraceEvent.NACK_SEEN
        self._nic.trace(seen, self._port.head().header[0], endpoint.node)
        if kind != Kind.DONE:
            await self.break_up(endpoint, VERDICTS[kind])
            return
        for waiting in endpoint.unanswered:
            if waiting.reading is None and not waiting.over:
                waiting.over = True
                break
        await self.complete(endpoint)

    async def complete(self, endpoint: Endpoint) -> None:
        """Complete what is over, and behind nothing that is not."""
        while endpoint.unanswered and endpoint.unanswered[0].over:
            done = endpoint.unanswered.popleft()
            await self._completing.send(endpoint, done.descriptor, done.length, done.operation)

    async def refuse(self, endpoint: Endpoint, kind: Kind) -> None:
        """Tell the peer why its message fails, and break the connection."""
        await self._outlet.answer(endpoint.node, endpoint.peer, kind)
        await self.break_up(endpoint, Status.FLUSHED)

    async def break_up(self, endpoint: Endpoint, verdict: Status) -> None:
        """The connection is no more: `verdict` is the status of the oldest message without an answer."""
        await self._nic.work("break_up")
        self._nic.store(endpoint.words, endpoint.generation << 8 | State.ERROR)
        await self.flush(endpoint, verdict)
        await self._ni.tell(Event.BROKEN, endpoint.number, endpoint.generation & 0xFFFF)

    async def flush(self, endpoint: Endpoint, verdict: Status) -> None:
        """Complete what is posted: the oldest message without an answer with `verdict`, all else as flushed."""
        await self.complete(endpoint)
        while endpoint.unanswered:
            done = endpoint.unanswered.popleft()
            await self._completing.send(endpoint, done.descriptor, 0, done.operation | verdict)
            verdict = Status.FLUSHED
        endpoint.verdict = verdict  # of the message that is being sent
        message, endpoint.receiving, endpoint.writing = endpoint.receiving, None, None
        if message is not None and not message.rewind():
            await self.end(endpoint, message, message.length, Status.FLUSHED)
        await self._receives.flush(endpoint)

    async def end(self, endpoint: Endpoint, message: Incoming, length: int, wrong: Status) -> None:
        """A receive descriptor is used up by a message that did not come whole."""
        await message.finish()
        await self._completing.receive(endpoint, message.descriptor, length, wrong)
