"""Outgoing queue of one channel in NI memory as its host fills it.

The host writes a message by PIO, then the back pointer. It reads the front pointer only when it needs more room.
"""

from __future__ import annotations

import struct
from typing import NamedTuple, Protocol

from firmware.grim.formats import COUNTER_MASK, GRIM_ID, HEADER, HEADER_BYTES, padded
from firmware.grim.nic.layout import ROUTE_BYTES, STATUS_BYTES, Layout, Register, fits, following
from firmware.grim.options import Options
from firmware.verbs import Host
from pymodels.registers import Pci
from pymodels.trace import TraceEvent

WORD = struct.Struct(">I")
MESSAGE_BYTES = ROUTE_BYTES + HEADER_BYTES
"""Room that a message takes in the queue in addition to its payload."""


class Region(Protocol):
    """Bytes in host memory: a `firmware.verbs.Buffer` or a part of one."""

    @property
    def address(self) -> int:
        """Physical byte address, a multiple of 4."""
        ...

    @property
    def size(self) -> int:
        """Size in bytes."""
        ...


class Piece:
    """Message to inject: header words w1..w7, payload bytes or their address in host memory, and stream number."""

    __slots__ = ("address", "data", "message", "size", "stream", "words")
    alone = False
    """True for a message that enters an empty queue only."""

    def __init__(
        self, words: tuple[int, ...], size: int, data: bytes | memoryview, address: int, stream: int, message: int
    ) -> None:
        self.words = words
        self.size = size
        """Bytes of payload."""
        self.data = data
        self.address = address
        self.stream = stream
        self.message = message
        """Number of the message in the trace to which the piece belongs."""

    @property
    def payload_words(self) -> int:
        """Words of payload."""
        return self.size + 3 >> 2


class LonePiece(Piece):
    """First segment of a long message to an FPGA card."""

    __slots__ = ()
    alone = True


class CardQueue(NamedTuple):
    """Queue of a card's channel in NI memory as the card's driver makes it known to the card: PCI addresses."""

    queue: int
    limit: int
    """Limit of the queue, no address."""
    back: int
    """Back pointer, or doorbell."""
    front: int
    """Front pointer."""
    read: int
    """Two words for the card's read positions in its rings."""


def card_queue(nic_base: int, layout: Layout, channel: int) -> CardQueue:
    """Return the queue of a card's channel, for a NIC at this PCI address."""
    queue, front = nic_base + layout.queues[channel], nic_base + layout.register(channel, Register.FRONT)
    return CardQueue(queue, layout.limit, nic_base + notice(layout, channel), front, nic_base + layout.card_read)


def notice(layout: Layout, channel: int) -> int:
    """Return the offset in the NI's window for a channel's new back pointer: a doorbell or the channel register."""
    return Pci.DOORBELL + 4 * channel if layout.doorbell_bytes else layout.register(channel, Register.BACK)


class Outgoing:
    """Queue of one channel as its host appends to it."""

    def __init__(self, host: Host, layout: Layout, options: Options, channel: int) -> None:
        self._host = host
        self.channel = channel
        self._stride = layout.stride
        self._base = host.nic_base + layout.queues[channel] + (STATUS_BYTES if layout.stride else 0)
        self._limit = layout.limit
        self._notify = host.nic_base + notice(layout, channel)
        self._front_register = host.nic_base + layout.register(channel, Register.FRONT)
        self._combine = bool(options.write_combine)
        self._fetch = bool(options.dma_inject)
        self.fetches = 0
        """Number of payloads that the NI was requested to fetch, 32 bits."""
        self.front = 0
        """Value of the NI's front pointer when it was last read."""
        self.back = 0
        # State to predict the word 0 that the NI will write, for trace records only. The NI counts in queue order.
        self._slots = layout.queue_slots
        self._first_token = channel * layout.slots
        self._messages = 0
        self._sequences: dict[int, int] = {}

    def fits(self, words: int) -> bool:
        """Return True if a message of `words` payload words fits, by the last front pointer read."""
        return fits(self.front, self.back, self._stride or MESSAGE_BYTES + padded(words), self._limit)

    def takes(self, piece: Piece) -> bool:
        """Return True if a message may be injected, by the last front pointer read."""
        return self.fits(piece.payload_words) and (not piece.alone or self.front == self.back)

    def fits_message(self, size: int, segment: int) -> bool:
        """Return True if all segments of a message of `size` bytes fit, by the last front pointer read."""
        back = self.back
        while True:
            slot = self._stride or MESSAGE_BYTES + padded((min(size, segment) + 3) // 4)
            if not fits(self.front, back, slot, self._limit):
                return False
            if size <= segment:
                return True
            back = following(back, slot, self._limit)
            size -= segment

    async def look(self) -> None:
        """Read the NI's front pointer over the bus."""
        self.front = await self._host.pio_read(self._front_register)

    def key(self, stream: int) -> int:
        """Return the word 0 that the NI will give the next message, for a stream."""
        token = self._first_token + self._messages % self._slots
        return GRIM_ID << 16 | token << 8 | self._sequences.get(stream, 0) & COUNTER_MASK

    async def _put_to_fetch(self, at: int, header: bytes, piece: Piece) -> int:
        """Write a message with the address of its payload in the room for the route, or 0 if the payload follows."""
        place = WORD.pack(piece.address) + bytes(ROUTE_BYTES - 4)
        if piece.address:
            self.fetches = self.fetches + 1 & 0xFFFFFFFF
        data = place + header + bytes(piece.data) + bytes(-len(piece.data) & 3)
        await self._host.pio_write(at - ROUTE_BYTES, data, self._combine)
        return len(data) - ROUTE_BYTES

    async def put(self, piece: Piece) -> None:
        """Inject one message, which must fit."""
        host, stream = self._host, piece.stream
        key = self.key(stream)
        self._messages += 1
        self._sequences[stream] = self._sequences.get(stream, 0) + 1
        at = self._base + self.back + ROUTE_BYTES
        header = HEADER.pack(0, *piece.words)
        size = HEADER_BYTES
        if self._fetch:
            size = await self._put_to_fetch(at, header, piece)
        elif piece.address:
            size += 4 * piece.payload_words
            await host.pio_write(at, header, self._combine)
            await host.pio_copy(at + HEADER_BYTES, piece.address, size - HEADER_BYTES, self._combine)
        else:
            if piece.data:
                header += bytes(piece.data) + bytes(-len(piece.data) & 3)
                size = len(header)
            await host.pio_write(at, header, self._combine)
        host.trace(TraceEvent.PAYLOAD_WRITTEN, key, size, message=piece.message)
        host.put_packet(at, piece.message)
        self.back = following(self.back, self._stride or MESSAGE_BYTES + padded(piece.payload_words), self._limit)
        await host.pio_write(self._notify, WORD.pack(self.back))
        host.trace(TraceEvent.POINTER_WRITTEN, key, self.back, message=piece.message)
