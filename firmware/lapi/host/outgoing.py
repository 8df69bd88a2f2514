"""Messages to other tasks: they are cut into packets, which are sent as windows and HAL's send buffers allow.

The packet with which half of a window is out asks for an acknowledgement. A packet stays in its buffer until it is
acknowledged, and is sent again from there. After a time-out without any sign the sender asks; the answer says what is
missing, and of that what was sent a time-out ago is sent again.
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
"""LAPI's number on HAL."""
Own = Callable[[Header, bytes], Awaitable[None]]
"""Takes a packet of this task to itself."""


@dataclass
class Message:
    """One on its way out."""

    header: Header
    """Of its packets: sequence, offset and flags differ."""
    user: bytes = b""
    """The user header."""
    data: int = 0
    """Address of the data."""
    origin: int = 0
    """The counter that rises when they may be changed."""
    offset: int = 0
    """Data bytes that have been sent."""
    flags: Flag = Flag.FIRST


@dataclass
class Peer:
    """What this task has for another one."""

    sending: Sending
    receiving: Receiving
    messages: deque[Message] = field(default_factory=deque)
    count: int = 0
    """Messages so far."""

    @property
    def quiet(self) -> bool:
        """Whether all there was has been acknowledged."""
        return not self.messages and not self.sending.kept


class Outgoing:
    """Of one task."""

    def __init__(
        self, host: Host, hal: Hal, memory: Memory, own: Own, raised: Callable[[int], None], begin: int
    ) -> None:
        """`raised(counter)`: a counter of this task rises."""
        self._host, self._hal, self._memory, self._own, self._raise = host, hal, memory, own, raised
        self.peers = [Peer(Sending(begin), Receiving(begin)) for _ in range(hal.nodes)]
        self.timeout_ps = 0
        self.packets = self.resent = self.questions = 0
        """Packets sent for the first time, and again; how often others were asked for an acknowledgement."""
        self._busy = False

    def give(self, target: int, message: Message) -> None:
        """A message for a task; `advance` sends it."""
        peer = self.peers[target]
        message.header = message.header._replace(message=peer.count, user=len(message.user))
        peer.count = (peer.count + 1) % MESSAGES
        peer.messages.append(message)

    async def advance(self) -> None:
        """Send what may be sent. A task that comes while another one is at it leaves it to that one."""
        if self._busy:
            return
        self._busy = True
        try:
            while await self._round():
                pass
        finally:
            self._busy = False

    async def _round(self) -> bool:
        """A packet to each task for which there is one; whether there was any."""
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
        """The next packet of the first message."""
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
        """Tell a task what is here."""
        await self._host.spend("lapi_acknowledge")
        peer = self.peers[target]
        header = peer.receiving.stamp(Header(Kind.ACKNOWLEDGE, flags, sequence=peer.sending.last))
        await self._hal.send(target, PROTOCOL, header.pack())

    async def acknowledged(self, source: int, header: Header) -> None:
        """What a packet says of those that were sent to its source."""
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

    async def ask(self, target: int, peer: Peer, now: bool = False) -> None:
        """Ask for an acknowledgement of all that was sent, unless that is done; `now`: of what is there."""
        sending = peer.sending
        if sending.kept and (now or sending.asked != sending.last):
            self.questions += 1
            sending.asked, sending.asked_at = sending.last, self._host.now
            await self.acknowledge(target, Flag.ASK | Flag.NOW if now else Flag.ASK)

    async def ask_all(self) -> None:
        """Ask all tasks."""
        for target, peer in enumerate(self.peers):
            await self.ask(target, peer)

    def deadline(self) -> int | None:
        """When a time-out is over next, ps."""
        ends = [end for peer in self.peers if (end := peer.sending.deadline(self.timeout_ps)) is not None]
        return min(ends, default=None)

    async def timeouts(self) -> None:
        """Ask those from whom nothing has been heard."""
        for target, peer in enumerate(self.peers):
            end = peer.sending.deadline(self.timeout_ps)
            if end is not None and self._host.now >= end:
                peer.sending.lose_patience()
                await self.ask(target, peer, now=True)

    @property
    def quiet(self) -> bool:
        """Whether all there was has been acknowledged."""
        return all(peer.quiet for peer in self.peers)

    def waits(self, who: str, names: Sequence[str]) -> Iterator[Wait]:
        """For the report of a hang: who has not acknowledged what."""
        for peer, name in zip(self.peers, names, strict=True):
            if peer.sending.kept:
                what = f"the acknowledgement of {len(peer.sending.kept)} packets"
                yield Wait(who, Wanted(what + ("" if peer.sending.room else ": its window is full"), f"host {name}"))
