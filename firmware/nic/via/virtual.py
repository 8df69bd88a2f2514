"""Users' own descriptors: the library writes them into the VI's queue cache, or tells only where they are and the NIC
fetches them by DMA (paper 001, 2.2.2). The NIC checks and translates (`translation.py`).

In a queue cache stands, in words: the descriptor with its own address and handle in place of the next one's (a message
of a few bytes with `IN_PLACE` has its bytes instead of data segments, and their number instead of the segments'), or

    address of the descriptor | 1,  its handle                                              it is fetched
"""

from __future__ import annotations

import struct
from typing import NamedTuple

from firmware.nic.via.layout import IN_PLACE, Kind, Vi
from firmware.nic.via.ni import Ni
from firmware.nic.via.ring import Ring
from firmware.nic.via.translation import Frames, Translator
from firmware.nic.via.work import Refused, Work
from pymodels.formats.via import ALIGNMENT, MOST_INLINE, Control, Field, Segment, Status

CONTROL, SEGMENT = Field.SIZE // 4, Segment.SIZE // 4
"""Words."""
FETCHED = CONTROL + SEGMENT
"""Words of a descriptor with one segment, which are fetched at once."""
MOST_READ = 32
MOST_SEGMENTS = 0xFFF
"""Of a descriptor (ours)."""
FLAGS = Control.OPERATION | Control.IMMEDIATE | Control.FENCE


class Part(NamedTuple):
    """A data segment, or what is left of it."""

    va: int
    handle: int
    size: int


class SegmentPages:
    """The pages of data segments, translated one by one as they are needed."""

    whole = True

    def __init__(self, translator: Translator, parts: list[Part], tag: int) -> None:
        self._translator, self._tag = translator, tag
        self._all = parts[::-1]
        self._parts = [*self._all]
        self._last = Part(0, 0, 0)

    def more(self) -> bool:
        """Whether anything is left."""
        return bool(self._parts)

    async def take(self) -> tuple[int, int] | None:
        """The next page."""
        va, handle, size = self._parts.pop()
        address, part = await self._translator.piece(va, handle, size, self._tag)
        self._last = Part(va, handle, part)
        if part < size:
            self._parts.append(Part(va + part, handle, size - part))
        return address, part

    def untake(self, left: int) -> bool:
        """The end of the last piece is a segment again."""
        va, handle, size = self._last
        self._parts.append(Part(va + size - left, handle, left))
        return True

    def again(self) -> None:
        """All of them once more."""
        self._parts = [*self._all]

    async def skip(self) -> None:
        """Forget the rest."""
        self._parts.clear()


class Virtual:
    """Reads users' descriptors."""

    def __init__(self, ni: Ni, table: Frames) -> None:
        self._ni, self._nic, self._port = ni, ni.nic, ni.port
        self._translator = Translator(ni, table)

    async def send(self, ring: Ring) -> Work:
        """The next descriptor of a VI's send queue cache."""
        return await self._read(ring, sends=True)

    async def receive(self, ring: Ring) -> Work:
        """The next one of its receive queue cache."""
        return await self._read(ring, sends=False)

    async def _read(self, ring: Ring, sends: bool) -> Work:
        work = Work(Kind.RECEIVE, ring.vi, 0, 0, SegmentPages(self._translator, [], 0))
        endpoint = self._ni.endpoints[ring.vi]
        try:
            words = await self._words(ring, work, endpoint.tag())
            await self._understand(work, words, endpoint.tag(), sends, self._nic.load(endpoint.words + Vi.MOST))
        except Refused as refused:
            work.status = refused.status
        return work

    async def _words(self, ring: Ring, work: Work, tag: int) -> tuple[int, ...]:
        """The descriptor, from the queue cache or from host memory; where it stands there. Raises Refused."""
        if ring.ready > ring.size:
            ring.reset()
            raise Refused(Status.FORMAT_ERROR)
        va, handle = ring.take(2)
        await self._nic.work("read_descriptor")
        place = va & ~1
        if place % ALIGNMENT:
            ring.reset()
            raise Refused(Status.FORMAT_ERROR)
        if va & 1:
            return await self._fetch(work, place, handle, tag)
        image: tuple[int, ...] = (va, handle)
        if ring.ready >= CONTROL - 2:
            image += ring.take(CONTROL - 2)
        count, flags = divmod(image[-5] if len(image) == CONTROL else 0, 1 << 16)
        rest = -(-count // 4) if flags & IN_PLACE else SEGMENT * count
        if len(image) < CONTROL or ring.ready < rest or (flags & IN_PLACE and count > MOST_INLINE):
            ring.reset()
            raise Refused(Status.FORMAT_ERROR)
        work.descriptor, _ = await self._translator.piece(place, handle, Field.SIZE, tag)
        work.home = handle
        return image + ring.take(rest)

    async def _fetch(self, work: Work, va: int, handle: int, tag: int) -> tuple[int, ...]:
        """The descriptor by DMA: first as much as one with one segment has."""
        work.descriptor, part = await self._translator.piece(va, handle, Field.SIZE, tag)
        work.home = handle
        words = await self._port.read(work.descriptor, min(FETCHED, part // 4))
        count, flags = divmod(words[Field.CONTROL // 4], 1 << 16)
        if count > MOST_SEGMENTS or flags & IN_PLACE:
            raise Refused(Status.FORMAT_ERROR)
        need = CONTROL + SEGMENT * count
        while len(words) < need:
            left = 4 * (need - len(words))
            address, part = await self._translator.piece(va + 4 * len(words), handle, left, tag)
            words += await self._port.read(address, min(part // 4, MOST_READ))
        return words[:need]

    async def _understand(self, work: Work, words: tuple[int, ...], tag: int, sends: bool, most: int) -> None:
        """What the descriptor asks for. Raises Refused."""
        count, flags = divmod(words[Field.CONTROL // 4], 1 << 16)
        operation = flags & Control.OPERATION
        if flags & ~(FLAGS | IN_PLACE) or operation > (Control.RDMA_WRITE if sends else Control.SEND_RECEIVE):
            raise Refused(Status.FORMAT_ERROR)
        if sends:
            work.kind = Kind.WRITE if operation else Kind.SEND
            if flags & Control.IMMEDIATE:
                work.immediate = struct.pack(">I", words[Field.IMMEDIATE // 4])
        rest = words[CONTROL:]
        if flags & IN_PLACE:
            if work.kind != Kind.SEND:
                raise Refused(Status.FORMAT_ERROR)
            work.inline, work.length = struct.pack(f">{len(rest)}I", *rest)[:count], count
            return
        if work.kind == Kind.WRITE:
            if not count:
                raise Refused(Status.FORMAT_ERROR)
            work.target, rest = struct.pack(">2I", rest[0], rest[2]), rest[SEGMENT:]
        await self._segments(work, rest, tag, most)

    async def _segments(self, work: Work, rest: tuple[int, ...], tag: int, most: int) -> None:
        """Data segments: all of them are checked before the first is used. Raises Refused."""
        parts = [Part(rest[at], rest[at + 2], rest[at + 3]) for at in range(0, len(rest), SEGMENT)]
        for part in parts:
            await self._translator.check(part.va, part.handle, part.size, tag)
            work.length += part.size
            if work.length > most:
                raise Refused(Status.LENGTH_ERROR)
            if self._nic.word_bytes == 4 and (part.va | part.size if part is not parts[-1] else part.va) & 3:
                raise Refused(Status.FORMAT_ERROR)  # a LANai 4 moves whole words
        work.pages = SegmentPages(self._translator, [part for part in parts if part.size], tag)
