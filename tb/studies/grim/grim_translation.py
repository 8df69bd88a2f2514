"""What is the hit rate of a NI's translation cache in remote writes, by the working set of their targets?

Strategy: the last host pins blocks of user-space memory, which only the run-time region of its NI's cache translates
(paper 000, 4.5.2). The first host writes to the blocks one after the other, in a random order. Working sets are from a
quarter of the cache to four times its size. A set that fits misses once for each block. A larger set replaces the
oldest entries, and the hit rate falls. The time of a write is recorded too, with the bytes compared.
"""

from __future__ import annotations

import random
import statistics

from firmware.grim.nic.layout import Counter
from tb.lab.lab import Lab
from tb.plan.options import Option, layer_options
from tb.studies.grim._memory import RemoteMemory
from tb.studies.kit.findings import curve

LAYER = "grim"
NEEDS = ("remote memory",)
SETS = (0.25, 0.5, 1, 1.25, 1.5, 2, 4)
"""Working sets, in entries of the run-time region."""
SIZE = 64
"""Bytes of a write."""
OPTIONS = {
    "writes": Option(48, "writes to each working set, after one to each of its blocks", 1, 100_000),
    **layer_options(LAYER),
}
QUICK = "writes=24"


async def run(lab: Lab) -> None:
    """Run the study."""
    pair = _Pair(lab)
    entries = lab.option("grim.translation_runtime")
    sets = sorted({max(int(entries * share), 1) for share in SETS})
    await pair.enable()
    await pair.allocate(sets[-1])
    rates, times = [], []
    for done, blocks in enumerate(sets):
        hits, us = await pair.write_to(blocks, lab.option("writes"))
        rates.append(100 * hits)
        times.append(us)
        lab.check(
            "translation hits",
            blocks > entries or hits == 1,
            f"{blocks} blocks fit into {entries} entries, but writes missed",
        )
        lab.progress(done + 1, len(sets), "working sets")
    lab.metric("entries", entries)
    curve(lab, "hit_rate", sets, rates, "blocks", "%", "hit_percent_{}_blocks")
    curve(lab, "write_time", sets, times, "blocks", "us", "write_us_{}_blocks")


class _Pair(RemoteMemory):
    """Host that writes, and host whose memory is written."""

    def __init__(self, lab: Lab) -> None:
        super().__init__(lab)
        self._random = random.Random(lab.seed)

    async def allocate(self, blocks: int) -> None:
        """Allocate source, lock and blocks. The lock is in contiguous memory, so that its translation never misses."""
        self._source, self._lock = await self.near.malloc_pinned(SIZE), await self.far.malloc_pinned(4)
        self._blocks = [await self.far.pin_user_memory(SIZE) for _ in range(blocks)]

    async def write_to(self, blocks: int, writes: int) -> tuple[float, float]:
        """Return the hit rate of `writes` writes to a number of blocks, and their median time in us."""
        for block in self._blocks[:blocks]:
            await self._write(block)
        missed = await self.far.ni_counter(Counter.MISSES)
        times = [await self._write(self._random.choice(self._blocks[:blocks])) for _ in range(writes)]
        missed = await self.far.ni_counter(Counter.MISSES) - missed
        return 1 - missed / writes, statistics.median(times) / 1e6

    async def _write(self, block: int) -> int:
        """Return the time in ps of one compared write, from the call to the lock."""
        data = self.next_data(SIZE)
        self.near.store_pinned(self._source, data)
        write = self.near.send_memory(self.where, block, self._source, SIZE, lock=self._lock, value=self.number)
        duration = await self.timed(write, self._lock)
        self.compare(self.far, block, data, f"write {self.number}")
        return duration
