"""Hybrid queue as the host fills it (paper 000, 4.2.2 c): each message takes a header slot and room in the payload
ring.
"""

from __future__ import annotations

from firmware.grim.formats import HEADER, padded
from firmware.grim.host.channel_queue import MESSAGE_BYTES, WORD, Outgoing, Piece
from firmware.grim.nic.layout import ROUTE_BYTES, STATUS_BYTES, Layout, Register, fits, following
from firmware.grim.options import Options
from firmware.verbs import Host
from pymodels.trace import TraceEvent


class HybridOutgoing(Outgoing):
    """Header slots and payload ring of one channel as its host appends to them."""

    def __init__(self, host: Host, layout: Layout, options: Options, channel: int) -> None:
        super().__init__(host, layout, options, channel)
        self._payloads = host.nic_base + layout.payload_queues[channel]
        self._payload_limit = layout.payload_limit
        self._payload_register = host.nic_base + layout.register(channel, Register.PAYLOAD_FRONT)
        self._payload_front = self._payload_back = 0

    def _has_room(self, back: int, payload_back: int, size: int) -> bool:
        """Return True if a header slot is free at `back`, and `size` bytes of payload are free at `payload_back`."""
        if not fits(self.front, back, self._stride, self._limit):
            return False
        return not size or fits(self._payload_front, payload_back, size, self._payload_limit)

    def fits(self, words: int) -> bool:
        """Return True if a message of `words` payload words fits, by the last front pointers read."""
        return self._has_room(self.back, self._payload_back, padded(words))

    def fits_message(self, size: int, segment: int) -> bool:
        """Return True if all segments of a message of `size` bytes fit, by the last front pointers read."""
        back, payload_back = self.back, self._payload_back
        while True:
            part = padded((min(size, segment) + 3) // 4)
            if not self._has_room(back, payload_back, part):
                return False
            if size <= segment:
                return True
            back = following(back, self._stride, self._limit)
            payload_back = following(payload_back, part, self._payload_limit)
            size -= segment

    async def look(self) -> None:
        """Read both front pointers of the NI over the bus."""
        self._payload_front = await self._host.pio_read(self._payload_register)
        await super().look()

    async def put(self, piece: Piece) -> None:
        """Inject one message, which must fit: payload, then header with the payload's offset, then back pointer."""
        host, stream, size = self._host, piece.stream, 4 * piece.payload_words
        key = self.key(stream)
        self._messages += 1
        self._sequences[stream] = self._sequences.get(stream, 0) + 1
        await host.spend("put_hybrid")
        at = self._payload_back
        if piece.address and size:
            await host.pio_copy(self._payloads + at, piece.address, size, self._combine)
        elif size:
            data = bytes(piece.data) + bytes(-len(piece.data) & 3)
            await host.pio_write(self._payloads + at, data, self._combine)
        if size:
            self._payload_back = following(at, padded(piece.payload_words), self._payload_limit)
        header = WORD.pack(at) + bytes(STATUS_BYTES - 4 + MESSAGE_BYTES - HEADER.size) + HEADER.pack(0, *piece.words)
        await host.pio_write(self._base + self.back - STATUS_BYTES, header, self._combine)
        host.trace(TraceEvent.PAYLOAD_WRITTEN, key, HEADER.size + size, message=piece.message)
        host.put_packet(self._base + self.back + ROUTE_BYTES, piece.message)
        self.back = following(self.back, self._stride, self._limit)
        await host.pio_write(self._notify, WORD.pack(self.back))
        host.trace(TraceEvent.POINTER_WRITTEN, key, self.back, message=piece.message)
