"""Hostile process: posts descriptors of random words, forges statuses, and stores into its pages of the NIC."""

from __future__ import annotations

import random
import struct
from typing import Any

from firmware.via.formats import Control, Field, Segment, Status
from firmware.via.host import Descriptor, VipError
from firmware.via.host.library.posting import ByProcess
from firmware.via.nic.user_pages import (
    BELL_RECEIVE,
    BELL_SEND,
    HANDLE_SHIFT,
    HANDLES,
    IN_PLACE,
    NEW_HANDLE,
    PAGE,
    POINTER,
    Pair,
)
from pymodels.host import ProtectionFault
from tb.studies.via.fuzz.link import Link
from tb.studies.via.fuzz.owner import OPEN, PLAIN
from tb.studies.via.fuzz.side import Side

SEGMENTS = 8
HOMES = 3
"""Maximum number of regions that a hostile process may leave behind."""
PAUSE_PS = 4_000_000


class Hostile:
    """Side of a connection that misuses its own resources and tries to access others."""

    def __init__(self, link: Link, side: Side, seed: int) -> None:
        self._link, self._side, self._other = link, side, link.sides[1 - side.number]
        self._random = random.Random(f"hostile {seed}")
        self._used: list[Descriptor] = []
        self._homes = 0

    async def run(self, times: int) -> None:
        """Do `times` random acts; VIA errors and protection faults are expected."""
        acts = [self._post, self._post, self._forge, self._elsewhere, self._home, self._again]
        if isinstance(self._side.vi.sends.poster, ByProcess):
            acts += [self._page, self._page, self._ring, self._ring]
        for _ in range(times):
            try:
                await self._random.choice(acts)()
            except (VipError, ProtectionFault):
                await self._take()
            await self._side.owner.nic.host.sleep(PAUSE_PS, "the next hostile act")

    async def _take(self) -> None:
        """Dequeue finished descriptors, so that more can be posted."""
        for queue in (self._side.vi.sends, self._side.vi.receives):
            while len(queue) and await queue.done() is not None:
                pass

    def _word(self) -> int:
        """Return a random number that is likely to have a meaning."""
        areas = [side.owner.areas[kind] for side in (self._side, self._other) for kind in (PLAIN, OPEN)]
        known = [word for area in areas for word in (area.va, area.handle)]
        if self._random.random() < 0.7:
            return self._random.choice([*known, 0, 1, 4095, 4096, 0xFFFF_FFFF])
        return self._random.getrandbits(32)

    async def _post(self) -> None:
        """Post a descriptor of random words."""
        if not self._used or len(self._used) < SEGMENTS:
            self._used.append(self._side.owner.place())
        place = self._random.choice(self._used)
        count, flags = self._random.choice((0, 1, 2, 8, 0xFFFF)), self._random.choice((0, 0, 1, 4, 5, 2, 0x40, 0x8000))
        words = [self._word() for _ in range(SEGMENTS * Segment.SIZE // 4)]
        for at in range(3, len(words), 4):
            words[at] = self._random.choice((0, 1, 8, 100, 4096, 65536, words[at]))
        head = struct.pack(">IIIHHIIII", 0, 0, 0, count, flags, 0, self._word(), 0, 0)
        self._side.owner.process.store_bytes(place.va, head + struct.pack(f">{len(words)}I", *words))
        vi = self._side.vi
        await (vi.post_send if self._random.random() < 0.6 else vi.post_receive)(place)

    async def _forge(self) -> None:
        """Write a forged status into a posted descriptor."""
        for place in self._used:
            if self._random.random() < 0.5:
                self._side.owner.process.store_words(
                    place.va + Field.LENGTH, (self._word(), self._random.getrandbits(20))
                )

    async def _elsewhere(self) -> None:
        """Store to an address outside the process's pages, and check that the page tables stop it."""
        process = self._side.owner.process
        try:
            await process.pio_write(process.host.nic_base + 4 * self._random.randrange(1 << 14), b"\xff\xff\xff\xff")
        except ProtectionFault:
            return
        self._side.wrong("a store to the NIC's memory was not stopped")

    async def _home(self) -> None:
        """Post a descriptor in memory that is deregistered immediately."""
        owner, vi = self._side.owner, self._side.vi
        if self._homes == HOMES:
            return
        self._homes += 1
        va = owner.process.allocate(PAGE)
        handle = await owner.nic.register_memory(va, PAGE, owner.tag)
        area = owner.areas[PLAIN]
        place = owner.nic.descriptor(va, handle).send([(area.va, area.handle, 64)])
        await (vi.post_send if self._random.random() < 0.5 else vi.post_receive)(place)
        await owner.nic.deregister_memory(handle)

    async def _again(self) -> None:
        """Replace the VI by another one, without dequeuing, and connect it."""
        for place in self._used:
            self._side.owner.process.store_words(place.va + Field.STATUS, (Status.DONE,))
        await self._take()
        for side in (self._side, self._other):
            await self._ended(side)
        await self._side.vi.destroy()
        await self._side.create(self._side.attributes)
        self._link.alive = not any(await self._link.attempt(*self._link.calls()))

    @staticmethod
    async def _ended(side: Side) -> None:
        try:
            await side.vi.disconnect()
        except VipError:
            return

    async def _page(self) -> None:
        """Store into the VI's page of the NIC or its doorbell page: a tail, or a doorbell."""
        poster = self._poster()
        begin = poster.pair - poster.pair % PAGE
        places = [begin + 4 * self._random.randrange(64), *range(poster.pair, poster.pair + 16, 4)]
        await self._store(self._random.choice([*places, *range(poster.ring, poster.ring + 64, 4)]), self._word())
        tail = self._random.choice((Pair.SEND_TAIL, Pair.RECEIVE_TAIL))
        await self._store(poster.pair + tail, self._random.choice((2, 8, 12, self._word())))
        await self._bell(self._random.choice((2, 8, 12, self._word())))

    async def _ring(self) -> None:
        """Write random words like a descriptor at the tail of a queue cache."""
        poster, area = self._poster(), self._side.owner.areas[PLAIN]
        flags = self._random.choice((0, IN_PLACE, IN_PLACE | Control.RDMA_WRITE, Control.RDMA_READ, 0x40))
        image = (area.va, area.handle, 0, self._random.choice((0, 1, 8, 20)) << 16 | flags, 0, 0, 0, 0, 0, 0, 0, 0)
        pointer = area.va | POINTER | self._random.randrange(HANDLES) << HANDLE_SHIFT
        words = self._random.choice((image, image, (pointer,), (pointer | NEW_HANDLE,), (pointer | NEW_HANDLE, 0)))
        for word in words:
            await self._store(poster.ring + 4 * (poster._tail % poster._size), word)
            poster._tail += 1
        await self._store(poster._tail_at, poster._tail)
        await self._bell(poster._tail)

    def _poster(self) -> Any:
        """Return the poster of one of the VI's queues."""
        vi = self._side.vi
        return self._random.choice((vi.sends, vi.receives)).poster

    async def _bell(self, value: int) -> None:
        """Store into the doorbell region, if the process has a page there."""
        page = self._side.vi.kernel_vi.pages.bell
        if page:
            await self._store(page + self._random.choice((BELL_SEND, BELL_RECEIVE)), value)

    async def _store(self, at: int, word: int) -> None:
        await self._side.owner.process.pio_write(at, (word & 0xFFFF_FFFF).to_bytes(4, "big"))
