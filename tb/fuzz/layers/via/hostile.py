"""A process that does what it likes: descriptors of random words, forged statuses, stores into its pages of the NIC."""

from __future__ import annotations

import random
import struct
from typing import Any

from firmware.host.via import Descriptor, VipError
from firmware.host.via.posting import ByProcess
from firmware.nic.via.user_pages import PAGE
from pymodels.formats.via import Field, Segment
from pymodels.host import ProtectionFault
from tb.fuzz.layers.via.owner import OPEN, PLAIN
from tb.fuzz.layers.via.side import Side

SEGMENTS = 8
PAUSE_PS = 4_000_000


class Hostile:
    """What one side of a connection does with everything that is its own, and tries with what is not."""

    def __init__(self, side: Side, other: Side, seed: int) -> None:
        self._side, self._other, self._random = side, other, random.Random(f"hostile {seed}")
        self._used: list[Descriptor] = []

    async def run(self, times: int) -> None:
        """So many acts; what stops them is an error of VIA's, or a fault of protection."""
        acts = [self._post, self._post, self._forge, self._elsewhere]
        if isinstance(self._side.vi.sends.poster, ByProcess):
            acts += [self._page, self._page]
        for _ in range(times):
            try:
                await self._random.choice(acts)()
            except (VipError, ProtectionFault):
                await self._take()
            await self._side.owner.nic.host.sleep(PAUSE_PS, "the next hostile act")

    async def _take(self) -> None:
        """Take back what is done, so that more can be posted."""
        for queue in (self._side.vi.sends, self._side.vi.receives):
            while len(queue) and await queue.done() is not None:
                pass

    def _word(self) -> int:
        """A number that may mean something."""
        areas = [side.owner.areas[kind] for side in (self._side, self._other) for kind in (PLAIN, OPEN)]
        known = [word for area in areas for word in (area.va, area.handle)]
        if self._random.random() < 0.7:
            return self._random.choice([*known, 0, 1, 4095, 4096, 0xFFFF_FFFF])
        return self._random.getrandbits(32)

    async def _post(self) -> None:
        """A descriptor of random words."""
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
        """A status that the NIC has not written."""
        for place in self._used:
            if self._random.random() < 0.5:
                self._side.owner.process.store_words(
                    place.va + Field.LENGTH, (self._word(), self._random.getrandbits(20))
                )

    async def _elsewhere(self) -> None:
        """A store to where nothing is its own: the page tables stop it."""
        process = self._side.owner.process
        try:
            await process.pio_write(process.host.nic_base + 4 * self._random.randrange(1 << 14), b"\xff\xff\xff\xff")
        except ProtectionFault:
            return
        self._side.wrong("a store to the NIC's memory went through")

    async def _page(self) -> None:
        """A store into the VI's page of the NIC or that of its doorbells, and a tail."""
        poster: Any = self._side.vi.sends.poster
        begin = poster.pair - poster.pair % PAGE
        places = [begin + 4 * self._random.randrange(64), *range(poster.pair, poster.pair + 16, 4)]
        at = self._random.choice([*places, *range(poster.ring, poster.ring + 64, 4)])
        process = self._side.owner.process
        await process.pio_write(at, self._word().to_bytes(4, "big"))
        await process.pio_write(poster.pair, self._random.choice((2, 8, 12, self._word())).to_bytes(4, "big"))
