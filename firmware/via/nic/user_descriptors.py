"""Users' own descriptors, written into the VI's queue cache or fetched by DMA (paper 001, 2.2.2).

The NIC checks and translates them (`translation.py`). A queue cache holds, in words, either the descriptor itself, with
its own address and handle in place of the next descriptor's. A message of a few bytes with `IN_PLACE` has its bytes
instead of data segments, and their number instead of the number of segments. Or it holds a pointer:

    address of the descriptor | POINTER | number of its handle

With NEW_HANDLE the next word is the handle. The NIC fetches the descriptor.
"""

from __future__ import annotations

import struct
from collections.abc import Hashable

from firmware.via.formats import ALIGNMENT, MOST_INLINE, Control, Field, Segment, Status
from firmware.via.nic.descriptors import Meanwhile, Refused, Work
from firmware.via.nic.endpoint import Endpoint
from firmware.via.nic.layout import Kind, Vi
from firmware.via.nic.ni import Ni
from firmware.via.nic.queue_cache import QueueCache
from firmware.via.nic.scatter_gather import SegmentPages, Span
from firmware.via.nic.translation import Frames, Translator
from firmware.via.nic.user_pages import HANDLE_SHIFT, HANDLES, IN_PLACE, NEW_HANDLE, PAGE, POINTER

CONTROL, SEGMENT = Field.SIZE // 4, Segment.SIZE // 4
"""Words of a control segment, and of an address or data segment."""
FETCHED = CONTROL + SEGMENT
"""Words of a descriptor with one segment, which are fetched at once."""
MOST_READ = 32
MOST_SEGMENTS = 0xFFF
"""Maximum number of segments of a descriptor (not from the paper)."""
OPERATIONS = (Kind.SEND, Kind.WRITE, Kind.READ)
FLAGS = int(Control.OPERATION | Control.IMMEDIATE)


class UserDescriptors:
    """Reader of users' descriptors."""

    def __init__(self, ni: Ni, table: Frames) -> None:
        self._ni, self._nic, self._port = ni, ni.nic, ni.port
        self._translator = Translator(ni, table)

    async def send(self, cache: QueueCache) -> Work:
        """Return the next descriptor of a VI's send queue cache."""
        return await self._read(cache, True, self._begin)

    async def receive(self, cache: QueueCache, meanwhile: Meanwhile | None = None) -> Work:
        """Return the next descriptor of a VI's receive queue cache."""
        return await self._read(cache, False, meanwhile)

    async def _begin(self) -> None:
        await self._nic.work_on("user_begin")

    async def _read(self, cache: QueueCache, sends: bool, meanwhile: Meanwhile | None) -> Work:
        """Return the next descriptor, and free its words in the queue cache."""
        endpoint = self._ni.endpoints[cache.vi]
        work = Work(Kind.RECEIVE, cache.vi, 0, 0, SegmentPages(self._ni, self._translator, [], 0, cache))
        released = False

        async def aside() -> None:
            nonlocal released
            released = True
            cache.free()
            await self._nic.work_on("user_taken")
            if meanwhile is not None:
                await meanwhile()

        try:
            words = await self._words(cache, work, endpoint.tag(), aside)
            await self._decode(work, words, endpoint, sends)
        except Refused as refused:
            work.status = refused.status
        if not released:
            await aside()
            await self._nic.caught_up()
        return work

    async def _words(self, cache: QueueCache, work: Work, tag: int, aside: Meanwhile) -> tuple[int, ...]:
        """Return the words of the descriptor, from the queue cache or host memory. Raises Refused."""
        if cache.ready > cache.size:
            raise self._garbage(cache)
        (word,) = cache.take(1)
        if word & POINTER:
            await self._nic.work_on("user_pointer")
            return await self._fetch(cache, work, word, tag, aside)
        await self._nic.work("user_image_told" if cache.tail_by_doorbell else "user_image")
        image: tuple[int, ...] = (word,)
        if cache.ready >= CONTROL - 1:
            image += cache.take(CONTROL - 1)
        count, flags = divmod(image[-5] if len(image) == CONTROL else 0, 1 << 16)
        rest = -(-count // 4) if flags & IN_PLACE else SEGMENT * count
        short = len(image) < CONTROL or cache.ready < rest
        if short or word % ALIGNMENT or (flags & IN_PLACE and count > MOST_INLINE):
            raise self._garbage(cache)
        await self._find(cache, work, word, image[1], tag)
        return image + cache.take(rest)

    @staticmethod
    def _garbage(cache: QueueCache) -> Refused:
        """Empty a queue cache with invalid contents, where the start of the next descriptor is unknown."""
        cache.reset()
        return Refused(Status.FORMAT_ERROR)

    async def _find(self, user: Hashable, work: Work, va: int, handle: int, tag: int) -> None:
        """Set the address of the descriptor in host memory. Raises Refused."""
        region = await self._translator.find(user, va, handle, Field.SIZE, tag)
        work.descriptor, work.home = await self._translator.frame(region, va, handle), handle

    async def _fetch(self, cache: QueueCache, work: Work, word: int, tag: int, aside: Meanwhile) -> tuple[int, ...]:
        """Fetch the descriptor by DMA, first with the size of one segment. Raises Refused."""
        va, number = word & -ALIGNMENT, word >> HANDLE_SHIFT & HANDLES - 1
        if word & NEW_HANDLE:
            await self._nic.caught_up()
            if not cache.ready:
                raise self._garbage(cache)
            await self._nic.work("user_handle")
            (cache.handles[number],) = cache.take(1)
        handle = cache.handles[number]
        await self._find((cache, number), work, va, handle, tag)
        size = min(4 * FETCHED, self._translator.behind(va, handle))
        words = await self._port.read(work.descriptor, size // 4, aside)
        count, flags = divmod(words[Field.CONTROL // 4], 1 << 16)
        if count > MOST_SEGMENTS or flags & IN_PLACE:
            raise Refused(Status.FORMAT_ERROR)
        need = CONTROL + SEGMENT * count
        while len(words) < need:
            at, left = va + 4 * len(words), 4 * (need - len(words))
            address, part = await self._translator.piece((cache, number), at, handle, left, tag)
            words += await self._port.read(address, min(part // 4, MOST_READ))
        return words[:need]

    async def _decode(self, work: Work, words: tuple[int, ...], endpoint: Endpoint, sends: bool) -> None:
        """Decode and check the descriptor. Raises Refused."""
        count, flags = divmod(words[Field.CONTROL // 4], 1 << 16)
        plain = count == 1 and not flags
        await self._nic.work_on("user_segment" if plain else "user_control")
        work.kind = self._kind(flags, sends)
        if sends and flags & Control.IMMEDIATE:
            work.immediate = struct.pack(">I", words[Field.IMMEDIATE // 4])
        rest = words[CONTROL:]
        if flags & IN_PLACE:
            if work.kind != Kind.SEND:
                raise Refused(Status.FORMAT_ERROR)
            work.inline, work.length = struct.pack(f">{len(rest)}I", *rest)[:count], count
            return
        if work.kind in (Kind.WRITE, Kind.READ):
            if not count:
                raise Refused(Status.FORMAT_ERROR)
            work.target, rest = struct.pack(">2I", rest[0], rest[2]), rest[SEGMENT:]
        if not plain:
            await self._nic.work("check_segment", len(rest) // SEGMENT)
        await self._segments(work, rest, endpoint, plain)
        if work.kind == Kind.READ:
            work.into, work.pages = work.pages, SegmentPages(self._ni, self._translator, [], 0, None)

    @staticmethod
    def _kind(flags: int, sends: bool) -> Kind:
        """Return the kind of a descriptor of a send or receive queue. Raises Refused."""
        operation = flags & Control.OPERATION
        if flags & ~(FLAGS | IN_PLACE) or operation > (Control.RDMA_READ if sends else Control.SEND_RECEIVE):
            raise Refused(Status.FORMAT_ERROR)
        if operation == Control.RDMA_READ and flags & Control.IMMEDIATE:
            raise Refused(Status.FORMAT_ERROR)
        return OPERATIONS[operation] if sends else Kind.RECEIVE

    async def _segments(self, work: Work, rest: tuple[int, ...], endpoint: Endpoint, plain: bool) -> None:
        """Check all data segments before the first one is used. Raises Refused."""
        most = self._nic.load(endpoint.words + Vi.MOST)
        parts = [Span(rest[at], rest[at + 2], rest[at + 3]) for at in range(0, len(rest), SEGMENT)]
        side, tag = (work.vi, work.kind), endpoint.tag()
        for part in parts:
            await self._translator.find(side, part.va, part.handle, part.size, tag)
            work.length += part.size
            if work.length > most:
                raise Refused(Status.LENGTH_ERROR)
            if self._nic.word_bytes == 4 and (part.va | part.size if part is not parts[-1] else part.va) & 3:
                raise Refused(Status.FORMAT_ERROR)  # a LANai 4 moves whole words
        parts = [part for part in parts if part.size]
        work.short = plain and work.length <= min(self._port.most, PAGE - parts[0].va % PAGE) if parts else False
        work.pages = SegmentPages(self._ni, self._translator, parts, tag, side, work.short)
