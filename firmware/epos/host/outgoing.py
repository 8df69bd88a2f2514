"""Sending side of the host: messages are cut into frames, which go into the Send Ring by host stores or by DMA."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import NamedTuple

from firmware.common.host.payload import MemoryRange, size_of
from firmware.common.host.words import store_words
from firmware.epos.nic.layout import Place
from firmware.epos.nic.pointcuts import Hooks, tell_slot
from firmware.epos.nic.words import BELLS, DATA, HELLO, TX_CHAIN, FrameInfo, bell, key_of, number_of
from firmware.verbs import Host
from firmware.view import ClusterView
from pymodels.registers import Block, Flag, Pci, Reg
from pymodels.trace import TraceEvent

Until = Callable[[int, int, str, str, str], Awaitable[int]]
"""Function that waits for a change of a card's word: address, value, path of a poll, subject and holder of the wait."""


class Sent(NamedTuple):
    """Frame in the Send Ring."""

    node: int
    slot: int
    number: int
    """Second word of the header."""
    size: int
    """Bytes of header and payload."""


class Outgoing:
    """Send Ring and Tx DMA Requests, as the host fills them."""

    def __init__(self, host: Host, view: ClusterView, place: Place, until: Until, process: int) -> None:
        self._host, self._me, self._place, self.until = host, view.me, place, until
        self._peer = view.me * place.processes + process
        self.hooks: Hooks = {}
        """Protocol hooks of the host, set once the protocols are created."""
        self.mtu, self.pio_limit = place.options.mtu, place.options.pio_limit
        self._page = process
        """Page of the doorbell region that this process rings."""
        self._frames = 0
        """Number of frames put into the ring since the start."""
        self._rung = self._known_sent = 0
        """Number of doorbells rung; `_known_sent` counts those known to be completed."""
        self._rung_by = [0] * place.options.send_frames
        """Number of the last doorbell of each slot."""
        self._blocks = self._entries = 0
        self._messages = [0] * place.peers
        apart = place.options.slot_bytes if place.stride else 0
        self.area = host.allocate(place.options.mtu * place.options.send_frames + apart)
        """Pinned memory for bytes given by the application. With protection, room for one message follows, because the
        NIC fetches only from this memory.
        """

    async def message(self, nodes: tuple[int, ...], data: bytes | MemoryRange, communicator: int) -> None:
        """Send a message to a node, or to several if a protocol repeats its frames."""
        host, size = self._host, size_of(data)
        message = host.message()
        host.trace(TraceEvent.SEND_CALL, 0, size, message=message)
        await host.spend("epos_message")
        for hook in self.hooks["message"]:
            await hook(nodes, size)
        number = max(self._messages[node] for node in nodes)
        for node in nodes:
            self._messages[node] = number + 1
        for index, at in enumerate(range(0, max(size, 1), self.mtu)):
            part = min(self.mtu, size - at)
            info = FrameInfo(at + part == size, self._peer, communicator, part)
            await self._frame(nodes, number_of(self._place.identity, number, index), info, data, at, message)

    async def _frame(
        self, nodes: tuple[int, ...], number: int, info: FrameInfo, data: bytes | MemoryRange, at: int, message: int
    ) -> None:
        """Send one frame of a message, with the payload from offset `at` on."""
        host, place, part = self._host, self._place, info.size
        large = part > self.pio_limit
        slot = await self._slot()
        if large:
            await host.spend("epos_frame_dma")
        else:
            await host.spend("epos_frame")
        key = key_of(DATA, self._me, self._frames * place.processes + self._page)
        self._frames += 1
        more = [await hook(nodes, at) for hook in self.hooks["frame"]]
        header = b"".join(word.to_bytes(4, "big") for word in (key, number, info.word, *more))
        host.trace(TraceEvent.PAYLOAD_WRITTEN, key, part, message=message)
        start = host.nic_base + place.slot(slot)
        host.put_message(start, message)
        host.put_packet(start, message)
        if large:
            host.put_message(start + place.header_bytes, message)
            await host.pio_write(start, header, combine=True)
            await self._request(slot, data, at, part)
        else:
            if part:
                await host.spend("epos_store", -(-part // 32))
            payload = self._bytes(data, at, part)
            await host.pio_write(start, header + payload + bytes(-part % 4), combine=True)
        sent = Sent(nodes[0], slot, number, place.header_bytes + part)
        await self.ring(sent, large)
        host.trace(TraceEvent.POINTER_WRITTEN, key, message=message)
        for hook in self.hooks["sent"]:
            await hook(nodes, sent)

    def _bytes(self, data: bytes | MemoryRange, at: int, part: int) -> bytes:
        """Return a part of a message."""
        if isinstance(data, MemoryRange):
            return self._host.load_bytes(data.address + at, part)
        return bytes(data[at : at + part])

    async def _request(self, slot: int, data: bytes | MemoryRange, at: int, part: int) -> None:
        """Write an entry of the Tx DMA Requests: five words, and last the word that makes it valid."""
        host, place = self._host, self._place
        if isinstance(data, MemoryRange):
            address = data.address + at
        else:
            address = self.area.address + place.options.mtu * slot
            host.store_bytes(address, data[at : at + part])
        count = place.options.send_frames
        block = place.requests + Block.SIZE * (self._blocks % count)
        following = place.requests + Block.SIZE * ((self._blocks + 1) % count)
        self._blocks += 1
        local = place.slot(slot) + place.header_bytes
        await store_words(host, block + Block.CSUM, 0, part, local, 0, address)
        await store_words(host, block, following | int(Flag.WAKE | Flag.E2L))
        if place.options.activate == "host":
            await host.spend("epos_activate")
            await host.pio_write(host.card.register(Reg.PULSE), (1 << TX_CHAIN).to_bytes(4, "big"))

    async def greet(self, node: int) -> None:
        """Send this host's composition to a node, in a greeting that no protocol processes."""
        host, place, slot = self._host, self._place, await self._slot()
        await host.spend("epos_greet")
        key = key_of(HELLO, self._me, self._frames)
        self._frames += 1
        words = (key, number_of(place.identity, 0, 0), *[0] * (place.header - 2))
        await store_words(host, place.slot(slot), *words)
        await self.ring(Sent(node, slot, 0, place.header_bytes))

    async def ring_protocol(self, protocol: str, node: int, count: int, bit: bool = False) -> None:
        """Ring a doorbell without a frame, for a protocol of the NIC."""
        await self._ring(bell(node, bit, tell_slot(protocol), count))

    async def ring(self, sent: Sent, large: bool = False) -> None:
        """Ring the doorbell of a frame in the Send Ring."""
        await self._ring(bell(sent.node, large, sent.slot, sent.size))
        self._rung += 1
        self._rung_by[sent.slot] = self._rung

    async def _ring(self, word: int) -> None:
        """Write an entry of the Tx FIFO Queue."""
        host, place = self._host, self._place
        if place.options.notify == "doorbell":
            await host.pio_write(host.nic_base + Pci.DOORBELL + 4096 * self._page, word.to_bytes(4, "big"))
        else:
            await store_words(host, place.bells + 4 * (self._entries % BELLS), word)
        self._entries += 1

    async def _slot(self) -> int:
        """Return the next slot of the ring, once the doorbells of its previous frame are completed."""
        slot = self._frames % self._place.options.send_frames
        await self._done(self._rung_by[slot], "a free frame of the Send Ring")
        return slot

    async def left(self) -> None:
        """Wait until every frame has left, so that its bytes in host memory may be changed."""
        await self._done(self._rung, "the last frame to leave")

    async def _done(self, bells: int, what: str) -> None:
        """Wait until `bells` doorbells are completed."""
        at = self._host.nic_base + self._place.sent
        while self._known_sent < bells:
            before = self._known_sent & 0xFFFFFFFF
            word = await self.until(at, before, "epos_look_sent", what, f"NIC {self._me}")
            self._known_sent += word - before & 0xFFFFFFFF
