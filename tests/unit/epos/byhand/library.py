"""EPOS's library for three compositions, written by hand without point-cuts."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

from firmware.common.host.payload import MemoryRange, size_of
from firmware.common.host.words import store_words
from firmware.epos.host import Epos, Message
from firmware.epos.host.incoming import Incoming
from firmware.epos.host.outgoing import Outgoing, Sent, Until
from firmware.epos.nic.layout import Place
from firmware.epos.nic.words import DATA, INCOMPLETE, LAP, FrameInfo, bell, key_of, number_of
from firmware.epos.options import Options
from firmware.verbs import Host
from firmware.view import ClusterView
from pymodels.trace import TraceEvent
from tests.unit.epos.byhand.program import CREDIT_BELL


class Sends(Outgoing):
    """Sender of the baseline."""

    _message = 0

    async def message(self, nodes: tuple[int, ...], data: bytes | MemoryRange, communicator: int) -> None:
        """Send a message to one node."""
        await self._called(data)
        await self._cut(nodes[0], data, communicator)

    async def _called(self, data: bytes | MemoryRange) -> None:
        self._message = self._host.message()
        self._host.trace(TraceEvent.SEND_CALL, 0, size_of(data), message=self._message)
        await self._host.spend("epos_message")

    async def _cut(self, node: int, data: bytes | MemoryRange, communicator: int) -> None:
        """Send the frames of a message."""
        number, size, at = self._messages[node], size_of(data), 0
        self._messages[node] += 1
        while at == 0 or at < size:
            part = min(self.mtu, size - at)
            info = FrameInfo(at + part == size, self._peer, communicator, part)
            await self._one(node, number_of(self._place.identity, number, at // self.mtu), info, data, at)
            at += self.mtu

    async def _one(self, node: int, number: int, info: FrameInfo, data: bytes | MemoryRange, at: int) -> None:
        """Write header and payload of a frame, and ring its doorbell."""
        await self._put(node, (), number, info, data, at)

    async def _put(
        self, node: int, more: tuple[int, ...], number: int, info: FrameInfo, data: bytes | MemoryRange, at: int
    ) -> Sent:
        """Write a frame with `more` header words."""
        host, place, part = self._host, self._place, info.size
        slot = await self._slot()
        large = part > self.pio_limit
        await host.spend("epos_frame_dma" if large else "epos_frame")
        key = key_of(DATA, self._me, self._frames)
        self._frames += 1
        host.trace(TraceEvent.PAYLOAD_WRITTEN, key, part, message=self._message)
        host.put_message(host.nic_base + place.slot(slot), self._message)
        header = b"".join(word.to_bytes(4, "big") for word in (key, number, info.word, *more))
        if large:
            host.put_message(host.nic_base + place.slot(slot) + place.header_bytes, self._message)
            await host.pio_write(host.nic_base + place.slot(slot), header, combine=True)
            await self._request(slot, data, at, part)
        else:
            if part:
                await host.spend("epos_store", (part + 31) // 32)
            payload = self._bytes(data, at, part) + bytes(-part % 4)
            await host.pio_write(host.nic_base + place.slot(slot), header + payload, combine=True)
        sent = Sent(node, slot, number, place.header_bytes + part)
        await self.ring(sent, large)
        host.trace(TraceEvent.POINTER_WRITTEN, key, message=self._message)
        return sent


class ReliableSends(Sends):
    """Sender with reliability: a sequence number in each header, and a wait for the acknowledgement of each frame."""

    count, resent = 0, 0

    async def _one(self, node: int, number: int, info: FrameInfo, data: bytes | MemoryRange, at: int) -> None:
        self.count += 1
        await self._acknowledged(await self._put(node, (self.count,), number, info, data, at))

    async def _acknowledged(self, sent: Sent) -> None:
        """Wait for the acknowledgement of a frame; ring its doorbell again after each time-out."""
        host, node = self._host, sent.node
        word, what, limit = -1, f"an acknowledgement of node {node}", 1_000_000 * self._place.options.timeout_us
        at, deadline = host.nic_base + self._place.peer["reliability"] + 12 * node + 4, host.now + limit
        while word != self.count:
            word = await self.until(at, word, "epos_look_ack", what, f"NIC {node}", deadline)  # type: ignore[call-arg]
            if word != self.count and host.now >= deadline:
                await host.spend("epos_again")
                self.resent += 1
                await self.ring(sent)
                deadline = host.now + limit


class CreditSends(ReliableSends):
    """Sender with reliability and flow control: a credit for each message, and the count of copied messages in each
    header.
    """

    def __init__(self, host: Host, view: ClusterView, place: Place, until: Until, process: int) -> None:
        super().__init__(host, view, place, until, process)
        self.messages, self.credit, self.given = [0] * place.peers, [0] * place.peers, [0] * place.peers
        self.reported: list[int] = []

    async def message(self, nodes: tuple[int, ...], data: bytes | MemoryRange, communicator: int) -> None:
        await self._called(data)
        while self.messages[nodes[0]] - self.credit[nodes[0]] >= self._place.options.slots:
            await self._credit(nodes[0])
        self.messages[nodes[0]] += 1
        await self._cut(nodes[0], data, communicator)

    async def _credit(self, node: int) -> None:
        """Wait for a credit; request it after each time-out."""
        at, before = self._host.nic_base + self._place.peer["flow"] + 4 * node, self.credit[node] & 0xFFFF
        what, deadline = f"a credit of node {node}", self._host.now + 1_000_000 * self._place.options.timeout_us
        word = await self.until(at, before, "epos_look_credit", what, f"host {node}", deadline)  # type: ignore[call-arg]
        if word == before:
            await self._host.spend("epos_probe")
            await self._ring(bell(node, True, CREDIT_BELL, 0))
        self.credit[node] += word - before & 0xFFFF

    async def _one(self, node: int, number: int, info: FrameInfo, data: bytes | MemoryRange, at: int) -> None:
        self.count += 1
        self.given[node] = self.reported[node]
        more = self.reported[node] & 0xFFFF, self.count
        await self._acknowledged(await self._put(node, more, number, info, data, at))

    async def give(self, node: int, taken: int) -> None:
        """Send a separate credit if half of the slots are not reported yet."""
        if taken - self.given[node] >= self._place.options.slots / 2:
            self.given[node] = taken
            await self._host.spend("epos_give")
            await self._ring(bell(node, False, CREDIT_BELL, taken & 0xFFFF))


class Takes(Incoming):
    """Receiver of all three compositions."""

    sends: Sends

    async def take(self, word: int) -> Message | None:
        """Process a received frame; return the message that it completes, or None."""
        host, info = self._host, FrameInfo.decode(word & ~LAP)
        number = host.message_at(self._entry)
        host.trace(TraceEvent.POLL_HIT, message=number)
        self._entries += 1
        source, size = info.source, self._size[info.source] + info.size
        if info.size == INCOMPLETE:
            await host.spend("epos_incomplete")
            self._size[source] = 0
            self.incomplete += 1
            await self._empty(source)
            return None
        self._size[source] = 0 if info.last else size
        if not info.last:
            await host.spend("epos_take_part")
            return None
        await host.spend("epos_take")
        host.trace(TraceEvent.HANDLER_START, 0, 0, source, message=number)
        message = self.taken[source]
        data = await self._copied(source, message, self._memory.address + self._place.staging(source, message), size)
        host.trace(TraceEvent.HANDLER_END, 0, 0, source, message=number)
        await self._empty(source)
        return Message(source, info.communicator, data or b"")

    async def _empty(self, source: int) -> None:
        """Free the staging slot of a message."""
        self.taken[source] += 1
        await self._host.spend("epos_copied")
        if isinstance(self.sends, CreditSends):
            await self.sends.give(source, self.taken[source])
        if self.taken[source] - self.reported[source] >= self._place.options.slots / 2:
            await self._host.spend("epos_free")
            self.reported[source] = self.taken[source]
            await store_words(self._host, self._place.freed(source), self.taken[source] & 0xFFFFFFFF)


SENDS: Mapping[tuple[str, ...], type[Sends]] = {
    (): Sends,
    ("reliability",): ReliableSends,
    ("flow", "reliability"): CreditSends,
}
"""Senders by composition."""


class ByHand(Epos):
    """Host library with the calls of the composed one, over the hand-written sender and receiver."""

    def __init__(self, host: Host, view: ClusterView) -> None:
        self.host, self.view, self.me = host, view, view.me
        self.options = Options.from_values(view.options).on(has_doorbells=True)
        self.place = Place(self.options, len(view.names))
        self.partners = [node for node in range(len(view.names)) if node != view.me and node in view.routes]
        self._memory = host.allocate(self.place.host_bytes)
        self.outgoing = sends = SENDS[self.options.composition](host, view, self.place, self.until, 0)
        self.incoming = takes = Takes(host, self.place, self._memory)
        takes.sends = sends
        if isinstance(sends, CreditSends):
            sends.reported = takes.reported
        self._came: deque[Message] = deque()
        self.protocols, self.processes = {}, (self,)
