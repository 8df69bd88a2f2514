"""Breaking of connections (readings C11).

Nothing is retransmitted. A gap in the packets, a missing or short descriptor, or a forbidden RDMA write breaks a
reliable connection. Its VIs enter the state ERROR. The status of the failed message has the reason, and all other
posted descriptors are flushed.
"""

from __future__ import annotations

from firmware.via.formats import Kind, Status
from firmware.via.nic.ack_sender import AckSender
from firmware.via.nic.completions import Completions
from firmware.via.nic.descriptor_readers import DescriptorReaders
from firmware.via.nic.endpoint import Endpoint
from firmware.via.nic.incoming import Incoming
from firmware.via.nic.layout import Event, State
from firmware.via.nic.ni import Ni


class Breaking:
    """Breaking of connections and flushing of descriptors."""

    def __init__(self, ni: Ni, acks: AckSender, completions: Completions, readers: DescriptorReaders) -> None:
        self._ni, self._nic = ni, ni.nic
        self._acks, self._completions, self._readers = acks, completions, readers

    async def refuse(self, endpoint: Endpoint, kind: Kind, number: int, message: int, last: bool = True) -> None:
        """Send the peer a NACK for its failed message, with the reason, then break the connection.

        `message` is the number of the message in the trace.
        """
        await self._acks.refuse(endpoint, kind, number, message, last)
        await self.break_up(endpoint, Status.FLUSHED)

    async def break_up(self, endpoint: Endpoint, verdict: Status, blamed: int | None = None) -> None:
        """Break the connection of a VI; `verdict` is the status of the failed message."""
        await self._nic.work("break_up")
        self._nic.store(endpoint.words, endpoint.generation << 8 | State.ERROR)
        await self.flush(endpoint, verdict, blamed)
        await self._ni.report(Event.BROKEN, endpoint.number, endpoint.generation & 0xFFFF)

    async def time_out(self, endpoint: Endpoint) -> None:
        """Flush after a time-out of the oldest unacknowledged message."""
        sent = endpoint.connection.unacknowledged
        await self.flush(endpoint, Status.TRANSPORT_ERROR, sent[0].number if sent else None)

    async def flush(self, endpoint: Endpoint, verdict: Status = Status.FLUSHED, blamed: int | None = None) -> None:
        """Complete all posted descriptors.

        Args:
            endpoint: VI.
            verdict: Status of the failed message. All others are flushed.
            blamed: Number of the failed message, or None for the message being sent.
        """
        connection = endpoint.connection
        connection.verdict, connection.failed_number = verdict, blamed
        while connection.unacknowledged:
            done = connection.unacknowledged.popleft()
            if done.over:
                await self._completions.send(endpoint, done.descriptor, done.length, done.operation)
                continue
            wrong = verdict if done.number == blamed else Status.FLUSHED
            await self._completions.send(endpoint, done.descriptor, 0, done.operation | wrong)
        message, connection.receiving, connection.writing = connection.receiving, None, None
        if message is not None and not message.rewind():
            await self.end(endpoint, message, message.length, Status.FLUSHED)
        await self.flush_receives(endpoint)

    async def flush_receives(self, endpoint: Endpoint) -> None:
        """Complete all posted receive descriptors as flushed."""
        ahead, cache = endpoint.receives.ahead, endpoint.receives.cache
        while ahead:
            work = ahead.popleft()
            await self._completions.receive(endpoint, work.descriptor, 0, work.status or Status.FLUSHED)
        await self._nic.caught_up()
        while cache.ready >= cache.least:
            await self._nic.work("flush_descriptor")
            work = await self._readers.reader_for(cache).receive(cache)
            await work.pages.skip()
            cache.free()
            if work.descriptor:
                await self._completions.receive(endpoint, work.descriptor, 0, work.status or Status.FLUSHED)
                await self._nic.caught_up()

    async def end(self, endpoint: Endpoint, message: Incoming, length: int, wrong: Status) -> None:
        """Complete the receive descriptor of an incomplete message with an error."""
        await message.finish()
        await self._completions.receive(endpoint, message.descriptor, length, wrong)
