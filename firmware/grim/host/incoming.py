"""Pinned queue of one endpoint as its host reads it: messages written by the NI, with reassembly of long ones."""

from __future__ import annotations

import struct
from typing import NamedTuple

from firmware.grim.formats import (
    ARRIVED,
    HEADER_BYTES,
    KIND_SHIFT,
    LASTS,
    SEGMENTS,
    TAG,
    TREES,
    WORDS_AT,
    Device,
    MessageType,
    Reference,
    padded,
    vnn_of,
)
from firmware.grim.nic.layout import HostQueue, Layout, Register, following
from firmware.verbs import Buffer, Host
from pymodels.trace import TraceEvent

WORD = struct.Struct(">I")
COUNT = struct.Struct(">H")
CORRECTION = (1 << KIND_SHIFT) - 1
PARTS = frozenset(kind for kind in TREES if kind in SEGMENTS + LASTS)
"""Types of the segments of a tree's long message."""
ENDS = frozenset((MessageType.ACTIVE, *LASTS))
"""Types of the last segment of a long message."""
COPY_BYTES = 32
"""Bytes copied in one iteration of the copy loop."""


class Sender(NamedTuple):
    """Sender of long messages to reassemble: an endpoint, or the first sender of a tree's message."""

    number: int
    """Reference of the endpoint; for a tree, VNN (8 bits) and channel (8 bits) of the first sender."""
    tree: int = -1
    """Number of the tree, or -1."""

    @property
    def vnn(self) -> int:
        """Node of the sender."""
        return vnn_of(self.number >> 16) if self.tree < 0 else self.number >> 8


class Incoming:
    """Queue of one endpoint. `take` returns messages as (source, type, handler, arguments, payload, key)."""

    def __init__(self, host: Host, layout: Layout, channel: int, buffer: Buffer) -> None:
        self._host = host
        self._limit = layout.host_limit
        self._view, self._address = buffer.view, buffer.address
        self._front_register = host.nic_base + layout.register(channel, Register.HOST_FRONT)
        self.back_address = buffer.address + HostQueue.BACK
        self.fetched_address = buffer.address + HostQueue.FETCHED
        """Address of the NI's count of fetched payloads."""
        self.position = 0
        """Read position. It differs from the NI's back pointer while messages are in the queue."""
        self.message = 0
        """Number in the trace of the message taken last."""
        self._told = 0
        self._long: dict[Sender, tuple[bytearray, int]] = {}
        self._trees: set[int] = set()
        """Trees to which the endpoint has subscribed."""

    def back(self) -> int:
        """Return the NI's back pointer in host memory."""
        return self._host.load_words(self.back_address, 1)[0]

    def pending(self) -> bool:
        """Return True if the queue has a message, by one load from host memory."""
        return self._host.load_words(self.back_address, 1)[0] != self.position

    async def take(self) -> tuple[int, int, int, tuple[int, int, int, int], memoryview, int] | None:
        """Return the message at the front of the queue, which must not be empty. The caller then calls `free`.

        Returns:
            The message, or None for a segment that was collected for reassembly, or dropped.
        """
        at = HostQueue.RING + self.position
        self.message = self._host.message_at(self._address + at)
        header = ARRIVED.unpack_from(self._host.window(self._address + at, HEADER_BYTES))
        w0, kind, tree, vnn, device, words, destination, channel, _, handler, a0, a1, a2, a3 = header
        self._host.trace(TraceEvent.POLL_HIT, w0, 0, vnn | (device & 0xC) << 6, message=self.message)
        size = 4 * words - (kind & CORRECTION)
        kind >>= KIND_SHIFT
        source = vnn << 24 | (device & ~TAG) << 16 | channel  # the endpoint's `Reference`
        sender = Sender(source)
        if kind in TREES:
            first = destination if kind >= MessageType.FORWARDED else vnn << 8 | channel
            source = Reference(
                vnn, Device.NI, first
            ).pack()  # NI that sent the last copy; VNN and channel of the original sender
            sender = Sender(first, tree)
        payload = self._host.window(self._address + at + HEADER_BYTES, size)
        if kind in PARTS and not await self._goes_on(sender, kind, (a0, a1), size):
            self._long.pop(sender, None)
            return None
        if kind in SEGMENTS:
            await self._collect(sender, a0 & 0xFFFFFFFF, payload)
            return None
        if sender in self._long and kind in ENDS:
            await self._collect(sender, 0, payload)
            whole, _ = self._long.pop(sender)
            payload = memoryview(whole)
        return source, kind, handler, (a0, a1, a2, a3), payload, w0

    def forget(self, vnn: int) -> None:
        """Drop the incomplete messages of a restarted node."""
        for sender in [sender for sender in self._long if sender.vnn == vnn]:
            del self._long[sender]

    def follow(self, tree: int, member: bool) -> None:
        """Join or leave a tree; on leaving, drop its incomplete messages."""
        if member:
            self._trees.add(tree)
            return
        self._trees.discard(tree)
        for sender in [sender for sender in self._long if sender.tree == tree]:
            del self._long[sender]

    async def _goes_on(self, sender: Sender, kind: int, place: tuple[int, int], size: int) -> bool:
        """Return True if a segment of a tree's long message continues the segments collected so far.

        An endpoint that joins or leaves during a message has not received all its segments. `place` holds total bytes
        and offset of a segment.
        """
        await self._host.spend("goes_on")
        whole, filled = self._long.get(sender, (b"", 0))
        if sender.tree not in self._trees:
            return False
        if kind in SEGMENTS and not place[1]:
            self._long.pop(sender, None)
            return True
        if sender not in self._long:
            return False
        if kind in SEGMENTS:
            return filled == place[1]
        return filled in (len(whole) - size, len(whole))  # a card does not know the length of its result at first

    async def _collect(self, sender: Sender, total: int, payload: memoryview) -> None:
        """Append a segment to those before it. Segments of a stream arrive in order and are not interleaved.

        `total` is 0 in the segments of a card's result: the bytes then grow with each segment.
        """
        await self._host.spend("collect_segment")
        whole, filled = self._long.get(sender) or (bytearray(total), 0)
        await self._host.spend("copy_line", -(-len(payload) // COPY_BYTES))
        whole[filled : filled + len(payload)] = payload
        self._long[sender] = whole, filled + len(payload)

    async def free(self) -> None:
        """Free the message at the front; publish the read position to the NI every quarter of the queue."""
        words = COUNT.unpack_from(self._view, HostQueue.RING + self.position + WORDS_AT)[0]
        size = HEADER_BYTES + padded(words)
        self.position = following(self.position, size, self._limit)
        used = self.position - self._told
        if (used if used >= 0 else used + self._limit) >= self._limit >> 2:
            self._told = self.position
            await self._host.spend("free_queue")
            await self._host.pio_write(self._front_register, WORD.pack(self.position))
