"""Messages to other tasks, split into packets and sent as windows and HAL's send buffers allow.

The packet that fills half of the window requests an acknowledgement. A packet stays in its buffer until it is
acknowledged, and is retransmitted from there. After a time-out without any packet from the target, the sender requests
an acknowledgement. Of the packets missing in it, those sent at least a time-out ago are retransmitted.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field

from firmware.hal.host.interface import Hal
from firmware.lapi.host.header import MESSAGES, MOST, NONE, Flag, Header, Kind
from firmware.lapi.host.link import Receiving, Sending
from firmware.lapi.host.memory import Memory
from firmware.verbs import Host
from pymodels.waiting import Wait, Wanted

PROTOCOL = 2
"""LAPI's protocol number on HAL."""
Own = Callable[[Header, bytes], Awaitable[None]]
"""Function that processes a packet of this task to itself."""


@dataclass
class Message:
    """Message to be sent."""

    header: Header
    """Header of the packets, whose sequence number, offset and flags vary."""
    user: bytes = b""
    """User header."""
    data: int = 0
    """Address of the data."""
    origin: int = 0
    """Counter to increment when the data may be changed."""
    offset: int = 0
    """Number of data bytes sent."""
    flags: Flag = Flag.FIRST


@dataclass
class Peer:
    """State of this task for another one."""

    sending: Sending
    receiving: Receiving
    messages: deque[Message] = field(default_factory=deque)
    count: int = 0
    """Number of messages so far."""

    @property
    def quiet(self) -> bool:
        """True if all messages have been acknowledged."""
        return not self.messages and not self.sending.kept


class Outgoing:
    """Send side of one task."""

    def __init__(
        self, host: Host, hal: Hal, memory: Memory, own: Own, raised: Callable[[int], None], begin: int
    ) -> None:
        """Create the send side; `raised(counter)` increments a counter of this task."""
        self._host, self._hal, self._memory, self._own, self._raise = host, hal, memory, own, raised
        self.peers = [Peer(Sending(begin), Receiving(begin)) for _ in range(hal.nodes)]
        self.timeout_ps = 0
        self.packets = self.resent = self.questions = 0
        """Numbers of first transmissions, of retransmissions, and of requests for an acknowledgement."""
        self._busy = False

    def give(self, target: int, message: Message) -> None:
        """Queue a message to a task; `advance` sends it."""
        peer = self.peers[target]
        message.header = message.header._replace(message=peer.count, user=len(message.user))
        peer.count = (peer.count + 1) % MESSAGES
        peer.messages.append(message)

    async def advance(self) -> None:
        """Send the packets that may be sent, unless another simulation task is already doing so."""
        if self._busy:
            return
        self._busy = True
        try:
            while await self._round():
                pass
        finally:
            self._busy = False

    async def _round(self) -> bool:
        """Send one packet to each task with a pending message. Return True if any was sent."""
        found = False
        for target, peer in enumerate(self.peers):
            if not peer.messages or not peer.sending.room:
                continue
            if target != self._hal.me and not self._hal.keepable:
                await self.ask_all()
                continue
            await self._next(target, peer)
            found = True
        return found

    async def _next(self, target: int, peer: Peer) -> None:
        """Send the next packet of the first message."""
        message = peer.messages[0]
        await self._host.spend("lapi_packet")
        room = MOST - (len(message.user) if message.flags else 0)
        part = min(room, message.header.size - message.offset)
        header = message.header._replace(flags=int(message.flags), offset=message.offset, sequence=peer.sending.next)
        head = message.user if message.flags else b""
        data = self._memory.load(message.data + message.offset, part)
        message.offset, message.flags = message.offset + part, NONE
        last = message.offset == message.header.size
        if last:
            peer.messages.popleft()
        if target == self._hal.me:
            await self._own(header, head + data)
        else:
            await self._send(target, peer, header, head, data)
        if last and message.origin:
            self._raise(message.origin)

    async def _send(self, target: int, peer: Peer, header: Header, head: bytes, data: bytes) -> None:
        sending = peer.sending
        if sending.asks:
            header = header._replace(flags=header.flags | Flag.ASK)
            sending.asked, sending.asked_at = sending.next, self._host.now
        stamped = peer.receiving.stamp(header).pack()
        buffer = await self._hal.send(target, PROTOCOL, stamped + head, data, keep=True)
        sending.sent(buffer, self._host.now)
        self.packets += 1

    # ---- acknowledgements and time

    async def acknowledge(self, target: int, flags: Flag = NONE) -> None:
        """Send an acknowledgement of the packets received."""
        await self._host.spend("lapi_acknowledge")
        peer = self.peers[target]
        header = peer.receiving.stamp(Header(Kind.ACKNOWLEDGE, flags, sequence=peer.sending.last))
        await self._hal.send(target, PROTOCOL, header.pack())

    async def acknowledged(self, source: int, header: Header) -> None:
        """Process the acknowledgement in a packet."""
        sending = self.peers[source].sending
        for buffer in sending.acknowledged(header.expected, header.beyond):
            await self._host.spend("lapi_release")
            self._hal.free(buffer)
        if header.kind == Kind.ACKNOWLEDGE and header.flags & Flag.NOW and not header.flags & Flag.ASK:
            for kept in list(sending.late(self._host.now, self.timeout_ps)):
                kept.at = self._host.now
                self.resent += 1
                await self._host.spend("lapi_again")
                await self._hal.again(kept.buffer)

    async def request_ack(self, target: int, peer: Peer, now: bool = False) -> None:
        """Request an acknowledgement of all packets unless that is pending; `now` requests it at once."""
        sending = peer.sending
        if sending.kept and (now or sending.asked != sending.last):
            self.questions += 1
            sending.asked, sending.asked_at = sending.last, self._host.now
            await self.acknowledge(target, Flag.ASK | Flag.NOW if now else Flag.ASK)

    async def ask_all(self) -> None:
        """Request an acknowledgement from all tasks."""
        for target, peer in enumerate(self.peers):
            await self.request_ack(target, peer)

    def deadline(self) -> int | None:
        """Return the end of the next time-out, ps."""
        ends = [end for peer in self.peers if (end := peer.sending.deadline(self.timeout_ps)) is not None]
        return min(ends, default=None)

    async def timeouts(self) -> None:
        """Request an acknowledgement from tasks that have been silent for a time-out."""
        for target, peer in enumerate(self.peers):
            end = peer.sending.deadline(self.timeout_ps)
            if end is not None and self._host.now >= end:
                peer.sending.lose_patience()
                await self.request_ack(target, peer, now=True)

    @property
    def quiet(self) -> bool:
        """True if all messages have been acknowledged."""
        return all(peer.quiet for peer in self.peers)

    def waits(self, who: str, names: Sequence[str]) -> Iterator[Wait]:
        """Yield the missing acknowledgements for a hang report."""
        for peer, name in zip(self.peers, names, strict=True):
            if peer.sending.kept:
                what = f"the acknowledgement of {len(peer.sending.kept)} packets"
                yield Wait(who, Wanted(what + ("" if peer.sending.room else ": its window is full"), f"host {name}"))
