"""The host's side of an endpoint's pinned queue: messages written by the NI, long ones reassembled."""

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
"""Parts of a tree's long messages."""
ENDS = frozenset((MessageType.ACTIVE, *LASTS))
"""What can be the last part of a long message."""
COPY_BYTES = 32
"""Bytes that one turn of the copying loop moves."""


class Sender(NamedTuple):
    """Whose long messages are put together: an endpoint's, or those of the first sender into a tree."""

    number: int
    """The endpoint's reference; of a tree's sender its VNN (8) and channel (8)."""
    tree: int = -1
    """-1: none."""

    @property
    def vnn(self) -> int:
        """The node of the sender."""
        return vnn_of(self.number >> 16) if self.tree < 0 else self.number >> 8


class Incoming:
    """One endpoint's queue. `take` gives messages as (source, type, handler, arguments, payload, key)."""

    def __init__(self, host: Host, layout: Layout, channel: int, buffer: Buffer) -> None:
        self._host = host
        self._limit = layout.host_limit
        self._view = buffer.view
        self._front_register = host.nic_base + layout.register(channel, Register.HOST_FRONT)
        self.back_address = buffer.address + HostQueue.BACK
        self.fetched_address = buffer.address + HostQueue.FETCHED
        """Where the NI counts the payloads that it has fetched."""
        self.position = 0
        """How far this host has read; the NI's back pointer differs from it while there are messages."""
        self._told = 0
        self._long: dict[Sender, tuple[bytearray, int]] = {}
        self._trees: set[int] = set()
        """Those that the endpoint has subscribed to."""

    def back(self) -> int:
        """The NI's back pointer in host memory."""
        return self._host.load_words(self.back_address, 1)[0]

    def pending(self) -> bool:
        """Whether a message is there: one look at a word of host memory."""
        return self._host.load_words(self.back_address, 1)[0] != self.position

    async def take(self) -> tuple[int, int, int, tuple[int, int, int, int], memoryview, int] | None:
        """The message at the front; None for a segment that was collected for reassembly, or dropped. There must be
        one. `free` it afterwards.
        """
        at = HostQueue.RING + self.position
        header = ARRIVED.unpack_from(self._view, at)
        w0, kind, tree, vnn, device, words, destination, channel, _, handler, a0, a1, a2, a3 = header
        self._host.trace(TraceEvent.POLL_HIT, w0, 0, vnn | (device & 0xC) << 6)
        size = 4 * words - (kind & CORRECTION)
        kind >>= KIND_SHIFT
        source = vnn << 24 | (device & ~TAG) << 16 | channel  # the endpoint's `Reference`
        sender = Sender(source)
        if kind in TREES:
            first = destination if kind >= MessageType.FORWARDED else vnn << 8 | channel
            source = Reference(vnn, Device.NI, first).pack()  # the NI that sent it last; VNN and channel of the sender
            sender = Sender(first, tree)
        payload = self._view[at + HEADER_BYTES : at + HEADER_BYTES + size]
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
        """A node has restarted: drop its incomplete messages."""
        for sender in [sender for sender in self._long if sender.vnn == vnn]:
            del self._long[sender]

    def follow(self, tree: int, member: bool) -> None:
        """The endpoint is in a tree from now on, or no longer: then nothing of the tree's long messages is kept."""
        if member:
            self._trees.add(tree)
            return
        self._trees.discard(tree)
        for sender in [sender for sender in self._long if sender.tree == tree]:
            del self._long[sender]

    async def _goes_on(self, sender: Sender, kind: int, place: tuple[int, int], size: int) -> bool:
        """Whether a segment of a tree's long message follows all segments before it: an endpoint that joins or leaves
        meanwhile has not seen them all. `place`: of a segment, total bytes and offset.
        """
        await self._host.spend("goes_on")
        whole, filled = self._long.get(sender, (b"", 0))
        if sender.tree not in self._trees:
            return False
        if kind in SEGMENTS and not place[1]:
            self._long.pop(sender, None)
            return True
        return sender in self._long and filled == (place[1] if kind in SEGMENTS else len(whole) - size)

    async def _collect(self, sender: Sender, total: int, payload: memoryview) -> None:
        """Copy a segment behind those before it. Segments of a stream come in order, and nothing comes between them."""
        await self._host.spend("collect_segment")
        whole, filled = self._long.get(sender) or (bytearray(total), 0)
        await self._host.spend("copy_line", -(-len(payload) // COPY_BYTES))
        whole[filled : filled + len(payload)] = payload
        self._long[sender] = whole, filled + len(payload)

    async def free(self) -> None:
        """Free the message at the front; tell the NI every quarter of the queue."""
        words = COUNT.unpack_from(self._view, HostQueue.RING + self.position + WORDS_AT)[0]
        size = HEADER_BYTES + padded(words)
        self.position = following(self.position, size, self._limit)
        used = self.position - self._told
        if (used if used >= 0 else used + self._limit) >= self._limit >> 2:
            self._told = self.position
            await self._host.spend("free_queue")
            await self._host.pio_write(self._front_register, WORD.pack(self.position))
