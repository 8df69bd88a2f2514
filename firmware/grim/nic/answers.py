"""Sender's processing of answers: ACK frees a message, NACK rolls back its stream, ERROR frees and reports it."""

from __future__ import annotations

from collections.abc import Awaitable, Coroutine, Iterator
from typing import Any

from firmware.grim.formats import Device, Lack, MessageType, Words, endpoint
from firmware.grim.nic.channels import SENT, Channel, holder
from firmware.grim.nic.clock import Clock
from firmware.grim.nic.layout import Counter
from firmware.grim.nic.ni import Ni
from firmware.grim.nic.outgoing import Outgoing
from firmware.grim.nic.path_tables import ACK_PATHS, BACK_STEP_PATHS, STYLES
from firmware.grim.nic.reports import Reports
from firmware.grim.nic.search import ChannelSearch
from firmware.grim.nic.transmitter import Transmitter
from pymodels.trace import TraceEvent
from pymodels.waiting import Wait, Wanted

MISSING_ROOM = {
    Lack.ENDPOINT: ("in the endpoint queues of {}", True),
    Lack.REPLIES: ("in the queue of replies of {}", False),
    Lack.TRANSLATION: ("for a second message that waits for a translation of {}", True),
    Lack.COPIES: ("for copies of a multicast tree of {}", False),
}
"""Location of the missing room by NACK cause, and True if the host has to free it (False: the NI)."""
HINT = " (a host that is down does not answer; with grim.timeout_us its messages fail at the sender)"


class Answers:
    """Processing of ACK, NACK and ERROR for messages in flight."""

    _strange_counter = Counter.STRANGE
    """Counter of answers that match no message in flight."""

    def __init__(
        self,
        ni: Ni,
        outgoing: Outgoing,
        transmitter: Transmitter,
        reports: Reports,
        clock: Clock,
        search: ChannelSearch,
    ) -> None:
        self.ni, self.nic, self.outgoing = ni, ni.nic, outgoing
        self.streams, self.order, self.transmitter = outgoing.streams, outgoing.order, transmitter
        self.reports, self.clock, self.search = reports, clock, search
        self._path = STYLES * (ni.options.sequencing == "per-ni")
        self._refused: dict[int, str] = {}
        """Room that each rejected stream waits for, by stream."""
        self.nic.waits.register(self._owed)

    def _owed(self) -> Iterator[Wait]:
        """Yield a wait for each NI with unanswered messages, for hang reports.

        The yielded waits name no holder, because this NI can make progress without these answers.
        """
        for vnn in sorted(set(self.ni.peers) - self.ni.down):
            count = sum(n for stream, n in enumerate(self.streams.in_flight) if self.order.peer(stream) == vnn)
            if count:
                hint = "" if self.ni.lossy else HINT
                yield Wait(self.nic.who, Wanted(f"answers of {self.ni.names[vnn]} to {count} messages{hint}"))

    async def seen(self, answer: Words) -> None:
        """Process a received answer."""
        kind = answer.type
        if kind == MessageType.ACK:
            await self._ack(answer)
        elif kind == MessageType.NACK:
            await self._nack(answer)
        elif kind == MessageType.ERROR:
            await self._error(answer)
        else:
            await self._strange()

    def sent(self) -> Awaitable[None]:
        """Handle SEND_INT: a packet has left SRAM."""
        return self.transmitter.sent()

    async def _strange(self) -> None:
        self.ni.count(self._strange_counter)
        await self.nic.work("answer_strange")

    def _message(self, answer: Words) -> tuple[Channel, int] | None:
        """Return channel and slot of the message in flight that an answer refers to, or None."""
        at = holder(self.outgoing.all, self.outgoing.own.index, answer.token)
        if at is None:
            return None
        channel, slot = at
        ok = channel.state[slot] == SENT and channel.sequence[slot] == answer.sequence
        return (channel, slot) if ok and self.order.peer(channel.stream[slot]) == answer.source else None

    async def _ack(self, answer: Words) -> None:
        message = self._message(answer)
        if message is None:
            await self._strange()
            return
        channel, slot = message
        self.nic.trace(TraceEvent.ACK_SEEN, answer.w0, answer.source, message=channel.message[slot])
        await self.nic.work(ACK_PATHS[channel.style])
        self.ni.count(Counter.ACKS_SEEN)
        await self.finish(*message)

    def finish(self, channel: Channel, slot: int) -> Coroutine[Any, Any, None]:
        """Remove an answered message from its stream's window and free it."""
        self.streams.in_flight[channel.stream[slot]] -= 1
        return self.free(channel, slot)

    async def free(self, channel: Channel, slot: int) -> None:
        """Free the oldest completed messages of a channel and resume the stream, channel and reports that waited for
        room.
        """
        streams, stream = self.streams, channel.stream[slot]
        self._has_room(stream)
        freed = channel.done(slot)
        if freed > 1:
            await self.nic.work("free_message", freed - 1)
        if streams.waiting[stream]:
            streams.wake(stream)
        if channel.blocked and freed:
            self._unblock(channel)
        if channel is self.outgoing.reports:
            await self.reports.afar.go_on()

    def _unblock(self, channel: Channel) -> None:
        """Search a blocked channel again, unless the report queue is full."""
        if not self.reports.stopped:
            channel.blocked = False
            self.search.look_again(channel)

    async def _nack(self, answer: Words) -> None:
        """Roll back the stream of a rejected message and retransmit it after the retry delay."""
        message = self._message(answer)
        if message is None:
            await self._strange()
            return
        channel, slot = message
        number = channel.message[slot]
        self.nic.trace(TraceEvent.NACK_SEEN, answer.w0, answer.source, message=number)
        await self.nic.work("nack_seen")
        taken = await self.roll_back(channel, slot)
        self._lacks_room(channel.stream[slot], answer.source, Lack(answer.cause))
        self.ni.count(Counter.NACKS_SEEN)
        self.nic.trace(TraceEvent.ROLLBACK, answer.w0, taken, message=number)
        await self.clock.later(channel.stream[slot])

    def _lacks_room(self, stream: int, peer: int, lack: Lack) -> None:
        """Record, for hang reports, what room a rejected stream waits for and who has to free it."""
        room, is_of_host = MISSING_ROOM[lack]
        room = f"room {room.format(f'VNN {peer}')} (stream {stream})"
        if self._refused.get(stream) != room:
            self._has_room(stream)
            self._refused[stream] = room
            self.nic.waits.want(self.nic.who, room, f"host {self.ni.names[peer]}" if is_of_host else f"NIC {peer}")

    def _has_room(self, stream: int) -> None:
        """Delete the hang-report entry of a stream that no longer waits for room."""
        if stream in self._refused:
            self.nic.waits.got(self.nic.who, self._refused.pop(stream))

    async def roll_back(self, channel: Channel, slot: int) -> int:
        """Roll back a message in flight and its successors in the stream; return the number of messages rolled back."""
        streams, stream = self.streams, channel.stream[slot]
        taken, looked_at = self.order.take_back(channel, slot)
        await self.nic.work(BACK_STEP_PATHS[self._path + channel.style], looked_at)
        self.transmitter.withdraw(stream)
        streams.in_flight[stream] -= taken
        streams.waiting[stream] += taken
        streams.cursor[stream] = self.order.place(channel, slot)
        self.ni.count(Counter.ROLLED_BACK, taken)
        return taken

    async def _error(self, answer: Words) -> None:
        """Free a message that was answered by an ERROR and report it to its host."""
        message = self._message(answer)
        if message is None:
            await self._strange()
            return
        await self.nic.work("error_seen")
        self.ni.count(Counter.ERRORS_SEEN)
        await self.failed(*message, answer.cause)

    async def failed(self, channel: Channel, slot: int, cause: int) -> None:
        """Report the cause of a failed message to its host and free the message."""
        await self.reports.failed(channel, slot, cause)
        await self.finish(channel, slot)

    async def replied(self, key: int, peer: int) -> None:
        """Complete a remote read whose data are in host memory, as if it were acknowledged (paper 000, 4.5.4)."""
        message = self._message(Words(key, endpoint(peer, Device.HOST)))
        if message is None:
            self.ni.count(Counter.STRANGE)
        else:
            channel, slot = message
            self.nic.trace(TraceEvent.ACK_SEEN, key, peer, message=channel.message[slot])
            self.ni.count(Counter.ACKS_SEEN)
            await self.finish(*message)

    async def failed_here(self, key: int, peer: int, cause: int) -> None:
        """Fail a remote read whose reply cannot be stored on this host: report it to the host and free its message."""
        message = self._message(Words(key, endpoint(peer, Device.HOST)))
        if message is not None:
            await self.failed(*message, cause)
