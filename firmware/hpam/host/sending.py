"""Send side of a process: fills buffers on the card and retransmits requests without a reply.

The wait doubles after each retransmission, up to 64 times `timeout_us`. At a constant rate, retransmissions of messages
that take longer than the time-out would keep receive pools full.
"""

from __future__ import annotations

from collections.abc import Mapping
from struct import pack

from firmware.common.host.request_reply import Kind
from firmware.hpam.host.daemon import Daemon
from firmware.hpam.host.message import FORMAT, TYPE, Header
from firmware.hpam.host.slots import Sent
from firmware.nics.fifo.buffers import ALIGN, BufferPort, message_place
from pymodels.host.process import Process
from pymodels.trace import TraceEvent

MOST_PATIENCE = 64
"""Longest wait before a retransmission, in multiples of `timeout_us`."""


class Sender:
    """Send side of one process."""

    def __init__(
        self, daemon: Daemon, process: Process, card: BufferPort, me: int, routes: Mapping[int, bytes], key: int
    ) -> None:
        self._daemon, self._process, self._card, self._me, self._routes, self._key = (
            daemon,
            process,
            card,
            me,
            routes,
            key,
        )
        self.slots = daemon.slots(key)
        self._timeout = daemon.options.timeout_us * 1_000_000
        self._number = 0
        self.resent = 0
        """Number of retransmissions."""

    async def request(self, node: int, handler: int, arguments: tuple[int, ...], data: bytes) -> None:
        """Send a request from a free request buffer of a node, which must exist."""
        slot = self.slots.free(node)
        assert slot is not None
        sequence = self.slots.next_sequence(node, slot)
        await self._process.spend("hpam_compose")
        sent = await self._send(Kind.REQUEST, node, slot, sequence, handler, arguments, data)
        self.slots.requests[node, slot] = sent
        sent.wait, sent.deadline = self._timeout, self._daemon.host.now + self._timeout

    async def reply(self, request: Header, handler: int, arguments: tuple[int, ...], data: bytes) -> None:
        """Send the reply to a request from its reply buffer."""
        node, slot = request.source, request.slot
        await self._process.spend("hpam_reply")
        sent = await self._send(Kind.REPLY, node, slot, request.sequence, handler, arguments, data)
        self.slots.replies[node, slot] = sent

    async def again(self, buffer: int, sent: Sent) -> None:
        """Retransmit a buffer, unless the card has yet to send it."""
        if not await self.is_sent(buffer):
            return
        self.resent += 1
        self.slots.again.add(buffer)
        await self._process.spend("hpam_resend")
        self._daemon.host.trace(TraceEvent.PAYLOAD_WRITTEN, sent.trace, sent.bytes, message=sent.message)
        await self._card.send(buffer, sent.descriptor)

    async def is_sent(self, buffer: int) -> bool:
        """Return True if the card has completed all transmissions of a buffer."""
        if not await self._card.sent(buffer):
            return False
        self.slots.again.discard(buffer)
        return True

    async def look_at_clock(self) -> None:
        """Retransmit overdue requests, and update the state of buffers sent again."""
        now = self._daemon.host.now
        for buffer, sent in self.slots.overdue(now):
            sent.wait = min(2 * sent.wait, MOST_PATIENCE * self._timeout)
            sent.deadline = now + sent.wait
            await self.again(buffer, sent)
        for buffer in tuple(self.slots.again):
            await self.is_sent(buffer)

    async def _send(
        self, kind: Kind, node: int, slot: int, sequence: int, handler: int, arguments: tuple[int, ...], data: bytes
    ) -> Sent:
        """Fill a buffer and start its transmission."""
        host = self._daemon.host
        self._number = self._number + 1 & 0xFF
        message = host.message()
        host.trace(TraceEvent.SEND_CALL, 0, len(data), message=message)
        header = Header(
            TYPE, self._me, self._number, self._key, handler, kind << 4 | slot, len(arguments), sequence, len(data)
        )
        body = pack(f">{len(arguments)}I", *arguments) + data
        buffer, route = self.slots.buffer(kind, node, slot), self._routes[node]
        descriptor = await self._card.fill(buffer, route, header.packed(), body)
        host.put_message(host.nic_base + message_place(route, buffer), message)
        used = -(-(len(route) + -len(route) % ALIGN + FORMAT.size + len(body)) // 4) * 4
        sent = Sent(descriptor, used, sequence, header.trace, message, FORMAT.size + len(body))
        host.trace(TraceEvent.PAYLOAD_WRITTEN, sent.trace, sent.bytes, message=message)
        await self._card.send(buffer, descriptor)
        host.trace(TraceEvent.POINTER_WRITTEN, sent.trace, buffer, message=message)
        return sent
