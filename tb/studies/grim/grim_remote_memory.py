"""What does a remote memory operation cost: physical or virtual, translation hit or miss, one piece or pages?

Strategy: one operation at a time from the first host to the last, over sizes. A write is timed from the call until the
far application, which spins on the lock, sees it written; a read from the call to the reader's lock. Bandwidth is size
over that time. At the largest size it is compared with the link, the slowest stage. Before each write that shall miss,
other blocks have taken its entry of the translation cache. All bytes are compared after each operation.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from firmware.grim.nic.layout import Counter
from tb.lab.lab import Lab
from tb.plan.options import Option, layer_options
from tb.studies.grim._memory import RemoteMemory
from tb.studies.kit.findings import curve

LAYER = "grim"
NEEDS = ("remote memory",)
SIZES = (4, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576)
KINDS = ("rm_p", "rm_v", "rm_v_scattered", "rm_v_miss", "rm_rv")
"""Writes: physical; virtual with a static hit; with a run-time hit in scattered pages; with a run-time miss. Reads."""
OFFSET = 1024
"""Offset of an operation in its first page, so that each message crosses a page boundary."""
OPTIONS = {
    "repetitions": Option(4, "operations of each kind and size up to 1 KB; larger ones take a quarter", 1, 10_000),
    "largest": Option(16384, "largest operation in bytes", 4, 1 << 20, unit="bytes"),
    **layer_options(LAYER),
}
VARIANTS = {"1MB": ("", "largest=1048576")}


async def run(lab: Lab) -> None:
    """Run the study."""
    sizes = [size for size in SIZES if size <= lab.option("largest")]
    pair = _Pair(lab, sizes[-1])
    await pair.enable()
    times: dict[str, list[float]] = {kind: [] for kind in KINDS}
    done, total = 0, len(KINDS) * len(sizes)
    for size in sizes:
        repetitions = lab.option("repetitions") if size <= 1024 else max(lab.option("repetitions") // 4, 1)
        for kind in KINDS:
            times[kind].append(statistics.median([await pair.time(kind, size) for _ in range(repetitions)]))
            done += 1
            lab.progress(done, total, "sizes")
    _hand_in(lab, sizes, times)
    await pair.hand_in()


def _hand_in(lab: Lab, sizes: Sequence[int], times: dict[str, list[float]]) -> None:
    """Record metrics and curves from the median times in ps, and the order of kinds that the paper states."""
    for kind, medians in times.items():
        measured = sizes[: len(medians)]
        rates = [size / ps * 1e6 for size, ps in zip(measured, medians, strict=True)]
        lab.metric(f"share_of_link_{kind}", rates[-1] * lab.plan.profile.integer("clock.link_ps") / 1e6)
        us = [ps / 1e6 for ps in medians]
        curve(lab, f"time_{kind}", measured, us, "B", "us", f"{kind}_us_{{}}B")
        curve(lab, f"bandwidth_{kind}", measured, rates, "B", "MB/s", f"{kind}_bandwidth_MBps_{{}}B")
    first = {kind: medians[0] / 1e6 for kind, medians in times.items()}
    lab.metric("translation_us", first["rm_v"] - first["rm_p"])
    lab.metric("miss_us", first["rm_v_miss"] - first["rm_v_scattered"])
    for slower, faster in (("rm_v", "rm_p"), ("rm_v_scattered", "rm_v"), ("rm_v_miss", "rm_v_scattered")):
        right = sum(a > b for a, b in zip(times[slower], times[faster], strict=False))
        lab.metric(f"sizes_at_which_{faster}_beats_{slower}", right)


class _Pair(RemoteMemory):
    """Host that operates, and host whose memory is accessed."""

    def __init__(self, lab: Lab, largest: int) -> None:
        super().__init__(lab)
        self.size = largest
        self.blocks = lab.option("grim.translation_runtime") + 1
        """Number of scattered blocks: one more than the cache holds, so that every access misses."""
        self.miss = 0

    async def enable(self) -> None:
        """Start both libraries and allocate memory."""
        await super().enable()
        room = self.size + 2 * OFFSET
        self.source, self.lock = await self.near.malloc_pinned(room), await self.near.malloc_pinned(4)
        self.target, self.far_lock = await self.far.malloc_pinned(room), await self.far.malloc_pinned(4)
        self.scattered = await self.far.pin_user_memory(room)
        self.others = [await self.far.pin_user_memory(room) for _ in range(self.blocks)]

    async def time(self, kind: str, size: int) -> int:
        """Return the duration of one operation in ps."""
        data = self.next_data(size)
        if kind == "rm_rv":
            return await self._read(size, data)
        self.near.store_pinned(self.source, data)
        block = await self._block(kind)
        write, at = self.near.send_memory, block + OFFSET
        if kind == "rm_p":
            write, at = self.near.send_physical_memory, self.far.get_pinned_pa(block + OFFSET)
        call = write(self.where, at, self.source, size, lock=self.far_lock, value=self.number)
        duration = await self.timed(call, self.far_lock)
        self.compare(self.far, block + OFFSET, data, kind)
        return duration

    async def _block(self, kind: str) -> int:
        """Return the target of a write, after preparing its translation."""
        if kind in ("rm_p", "rm_v"):
            return int(self.target)
        if kind == "rm_v_miss":
            self.miss += 1
            return int(self.others[self.miss % self.blocks])
        word = self.far_lock  # the first write loads the translation; its lock shows when
        await self.near.send_memory(self.where, self.scattered + OFFSET, self.source, 4, lock=word, value=0xFFFF_FFFF)
        await self.far.wait_for_lock(word, 0xFFFF_FFFF)
        return int(self.scattered)

    async def _read(self, size: int, data: bytes) -> int:
        self.far.store_pinned(self.target + OFFSET, data)
        self.near.store_pinned(self.lock, b"wait")
        begun = self.lab.kernel.now
        await self.near.fetch_memory(self.where, self.source, self.target + OFFSET, size, lock=self.lock)
        await self.near.wait_for_lock(self.lock, 0)
        duration = self.lab.kernel.now - begun
        self.compare(self.near, self.source, data, "rm_rv")
        return duration

    async def hand_in(self) -> None:
        """Record the counters of the far NI and its driver."""
        self.lab.metric("interrupts", self.far.translations_served)
        for name, counter in (("misses", Counter.MISSES), ("fragments", Counter.FRAGMENTS)):
            self.lab.metric(name, await self.far.ni_counter(counter))
        self.lab.check(
            "translation misses",
            self.far.translations_served >= self.miss,
            "writes that should miss found their translation",
        )
