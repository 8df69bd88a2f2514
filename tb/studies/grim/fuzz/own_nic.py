"""Actions of a node on its own NIC: reserved memory, counters, and the timed channel search."""

from __future__ import annotations

import struct

from firmware.grim.host import Grim
from firmware.grim.nic.layout import Counter, Word
from tb.fuzz.program import Act
from tb.studies.grim.fuzz.mail import INK
from tb.studies.grim.fuzz.node import Node

LOOKS, LOOK_PS = 20, 5_000_000
"""Maximum number of polls for the end of a timed search, which messages can prolong; LOOK_PS is their interval."""
RESERVED = "use NI memory"


class OwnNic:
    """Actions of a node on its NIC. Each of its tasks writes one half of the reserved memory."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.cluster, self.index, self.host = node.cluster, node.index, node.host
        self._stored: dict[int, int] = {}
        """Stored words, by SRAM address."""

    def reserve(self, library: Grim) -> None:
        """Reserve, before `grim_enable`, the memory that the actions of this node use, if the NIC has room."""
        self._stored = {}
        sizes = [
            act.whole("size") for act in self.cluster.program.acts if (act.node, act.name) == (self.index, RESERVED)
        ]
        left = library.layout.sram_bytes - library.layout.end
        if sizes and max(sizes) + 2 * 4096 <= left:
            library.reserve_ni_memory(max(sizes))

    async def do_use_NI_memory(self, act: Act) -> None:  # noqa: N802 - named after the act
        """Store words to reserved memory of the NI, by virtual address."""
        what = str(act)
        if not self.node.library.reserved.size:
            await self.node.call(what, self.node.library.get_reserved_ni_memory, refused="reserve_ni_memory")
            return
        va, pa = await self.node.call(what, self.node.library.get_reserved_ni_memory)
        half = self.node.library.reserved.size // 2
        at = act.task * half + act.whole("offset") % half & ~3
        data = INK[at % 4096 : at % 4096 + min(act.whole("size") & ~3 or 4, (act.task + 1) * half - at)]
        in_sram = pa - self.host.nic_base + at
        self._stored |= {
            in_sram + word: value
            for word, (value,) in zip(range(0, len(data), 4), struct.iter_unpack(">I", data), strict=True)
        }
        await self.node.library.reserved.application.pio_write(va + at, data)
        if await self.node.library.reserved.application.pio_read(va + at) != self._stored[in_sram]:
            self.node.wrong(f"{what}: wrong word at {va + at:#x}")

    def wrong_ni_memory(self) -> list[str]:
        """Return a description of the first wrong word in reserved memory."""
        nic = self.cluster.world.nics[self.index]
        return [
            f"node {self.index}: {nic.load(at):#x} in reserved NI memory at {at:#x}, where {word:#x} was stored"
            for at, word in self._stored.items()
            if nic.load(at) != word
        ][:1]

    async def do_count(self, act: Act) -> None:
        """Read one of the NI's counters, which must not decrease."""
        counter = tuple(Counter)[act.whole("index") % len(Counter)]
        before: int = await self.node.call(str(act), lambda: self.node.library.ni_counter(counter))
        after: int = await self.node.call(str(act), lambda: self.node.library.ni_counter(counter))
        if after < before:
            self.node.wrong(f"{act}: {counter.name} went from {before} to {after}")

    async def do_time_search(self, act: Act) -> None:
        """Let the NI time its channel search."""
        if not self.node.library.options.search_timer:
            return
        word = self.host.nic_base + Word.SEARCH
        await self.host.pio_write(word, struct.pack(">2H", 1 + act.whole("index") % len(self.node.channels), 2))
        for _ in range(LOOKS):
            if not await self.host.pio_read(word):
                return
            await self.host.sleep(LOOK_PS, "the end of a search")
