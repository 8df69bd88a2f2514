"""Receiving side of the host: entries of the Rx FIFO Queue announce frames; complete messages are copied from their
staging slots.
"""

from __future__ import annotations

from typing import NamedTuple

from firmware.common.host.words import store_words
from firmware.epos.nic.layout import Place
from firmware.epos.nic.pointcuts import Hooks
from firmware.epos.nic.words import GREETING, INCOMPLETE, LAP, FrameInfo
from firmware.verbs import Buffer, Host
from pymodels.trace import TraceEvent


class Message(NamedTuple):
    """Received message, copied out of its staging slot."""

    source: int
    communicator: int
    data: bytes


class Incoming:
    """Staging slots and the Rx FIFO Queue, as the host empties them."""

    def __init__(self, host: Host, place: Place, memory: Buffer) -> None:
        self._host, self._place, self._memory = host, place, memory
        self.hooks: Hooks = {}
        """Protocol hooks of the host, set once the protocols are created."""
        self._entries = 0
        """Number of entries taken since the start."""
        self._size = [0] * place.peers
        """Bytes received of the incomplete message from each node."""
        self.taken = [0] * place.peers
        self.reported = [0] * place.peers
        """Messages that the NIC was notified of as copied; `taken` counts the messages copied out, for each node."""
        self._into = host.allocate(place.options.slot_bytes)
        """Application memory that messages are copied to."""
        self._mirrored = place.options.rx_fifo == "host"
        self.mirror = host.allocate(4 * place.entries) if self._mirrored else None
        self.incomplete = 0
        """Number of messages of which later frames were lost."""
        self.met: dict[int, int] = {}
        """Composition that each node's greeting named."""
        self.overwritten = 0
        """Number of messages overwritten in their staging slots by later ones."""

    @property
    def _entry(self) -> int:
        """Address of the next entry."""
        offset = 4 * (self._entries % self._place.entries)
        return self.mirror.address + offset if self.mirror else self._host.nic_base + self._place.fifo + offset

    @property
    def _lap(self) -> int:
        """Lap bit of the entries of the previous round."""
        return LAP if self._entries // self._place.entries & 1 else 0

    async def look(self) -> int:
        """Read the next entry once; return its word, or 0 if it is not valid yet."""
        host = self._host
        if self._mirrored:
            await host.spend("epos_look_here")
            word = host.load_words(self._entry, 1)[0]
        else:
            word = await host.pio_read(self._entry)
            await host.spend("epos_look")
        return word if (word ^ self._lap) & LAP else 0

    async def wait(self) -> int:
        """Spin until the next entry is valid, and return its word."""
        host = self._host
        if self._mirrored:
            before = host.load_words(self._entry, 1)[0]
            if not (before ^ self._lap) & LAP:
                await host.poll([(self._entry, before)], "epos_look_here")
            return host.load_words(self._entry, 1)[0]
        return await host.poll_card(self._entry, self._lap, "epos_look", LAP)

    async def take(self, word: int) -> Message | None:
        """Process a frame, and return the message that it completes, or None."""
        host, info = self._host, FrameInfo.decode(word & ~LAP)
        number = host.message_at(self._entry)
        host.trace(TraceEvent.POLL_HIT, message=number)
        self._entries += 1
        if info.size == GREETING:
            await host.spend("epos_greeted")
            self.met[info.source] = info.communicator
            return None
        if info.size == INCOMPLETE:
            await host.spend("epos_incomplete")
            self._size[info.source] = 0
            self.incomplete += 1
            await self._empty(info.source)
            return None
        self._size[info.source] += info.size
        if not info.last:
            await host.spend("epos_take_part")
            return None
        await host.spend("epos_take")
        size, self._size[info.source] = self._size[info.source], 0
        host.trace(TraceEvent.HANDLER_START, 0, 0, self._place.node(info.source), message=number)
        message = self.taken[info.source]
        at = self._memory.address + self._place.staging(info.source, message)
        data: bytes | None = None
        for hook in self.hooks["assembled"]:
            data = await hook(info.source, size) if data is None else data
        if data is None:
            data = await self._copied(info.source, message, at, size)
        host.trace(TraceEvent.HANDLER_END, 0, 0, self._place.node(info.source), message=number)
        await self._empty(info.source)
        if data is None:
            self.overwritten += 1
            return None
        return Message(info.source, info.communicator, data)

    async def _empty(self, source: int) -> None:
        """Release the staging slot of a message."""
        taken = self.taken[source] = self.taken[source] + 1
        await self._host.spend("epos_copied")
        for hook in self.hooks["copied"]:
            await hook(source, taken)
        if 2 * (taken - self.reported[source]) >= self._place.options.slots:
            await self._free(source)

    async def _copied(self, source: int, message: int, at: int, size: int) -> bytes | None:
        """Copy a message out of its slot; return None if a later message has overwritten it meanwhile."""
        host = self._host
        if size:
            await host.copy_memory("epos_copy", self._into.address, at, size)
        if self._place.options.staging == "overwrite":
            await host.spend("epos_check")
            mark = self._memory.address + self._place.mark(source, message)
            if host.load_words(mark, 1)[0] != message & 0xFFFFFFFF:
                return None
        return host.load_bytes(self._into.address, size) if size else b""

    async def _free(self, source: int) -> None:
        """Publish the number of copied messages to the NIC, which frees their slots."""
        await self._host.spend("epos_free")
        self.reported[source] = self.taken[source]
        await store_words(self._host, self._place.freed(source), self.taken[source] & 0xFFFFFFFF)
