"""What does a notification word in a remote write save over a second write for the word?

Strategy: the first host writes into the memory of the last one, which waits for a word. Either the message carries
address and value of that word (paper 000, 4.5.5), or the sender writes data and word by two operations. Both ways are
measured over sizes: the time from the call until the word is seen, with the bytes compared. Then writes are sent back
to back, for the rate that a NI can execute.
"""

from __future__ import annotations

import statistics

from tb.lab.lab import Lab
from tb.plan.options import Option, layer_options
from tb.studies.grim._memory import RemoteMemory
from tb.studies.kit.findings import curve

LAYER = "grim"
NEEDS = ("remote memory",)
SIZES = (4, 64, 256, 1024, 4096)
WAYS = ("in_message", "two_writes")
OPTIONS = {
    "repetitions": Option(3, "writes of each size and way", 1, 10_000),
    "stream": Option(24, "back-to-back writes of 4 B for each way", 2, 100_000),
    **layer_options(LAYER),
}


async def run(lab: Lab) -> None:
    """Run the study."""
    pair = _Pair(lab)
    await pair.enable()
    for done, way in enumerate(WAYS):
        times = [await _median_us(lab, pair, way, size) for size in SIZES]
        lab.metric(f"{way}_per_s", await pair.rate(way, lab.option("stream")))
        curve(lab, f"time_{way}", SIZES, times, "B", "us", f"{way}_us_{{}}B")
        lab.progress(done + 1, len(WAYS), "ways to notify")
    metrics = lab.findings.metrics
    for size in SIZES:
        lab.metric(f"saved_us_{size}B", metrics[f"two_writes_us_{size}B"] - metrics[f"in_message_us_{size}B"])


async def _median_us(lab: Lab, pair: _Pair, way: str, size: int) -> float:
    return statistics.median([await pair.time(way, size) for _ in range(lab.option("repetitions"))]) / 1e6


class _Pair(RemoteMemory):
    """Host that writes, and host that waits for the word."""

    async def enable(self) -> None:
        """Start both libraries and allocate memory."""
        await super().enable()
        self._source, self._value = await self.near.malloc_pinned(max(SIZES)), await self.near.malloc_pinned(4)
        self._target, self._word = await self.far.malloc_pinned(max(SIZES)), await self.far.malloc_pinned(4)

    async def time(self, way: str, size: int) -> int:
        """Return the time in ps from the call of one write until the word is seen."""
        data = self.next_data(size)
        self.near.store_pinned(self._source, data)
        duration = await self.timed(self._write(way, size), self._word)
        self.compare(self.far, self._target, data, "a write")
        return duration

    async def rate(self, way: str, count: int) -> float:
        """Return the rate of 4-byte writes per second, from the first call until the last word is seen."""
        begun = self.lab.kernel.now
        for _ in range(count):
            self.number += 1
            await self._write(way, 4)
        ended = await self.seen(self._word)
        self.lab.findings.messages += count
        return count / (ended - begun) * 1e12

    async def _write(self, way: str, size: int) -> None:
        """Write the data, and the number of this write into the word."""
        near = self.near
        if way == "in_message":
            word = {"lock": self._word, "value": self.number}
            await near.send_memory(self.where, self._target, self._source, size, **word)
        else:
            await near.send_memory(self.where, self._target, self._source, size)
            near.store_pinned(self._value, self.number.to_bytes(4, "big"))
            await near.send_memory(self.where, self._word, self._value, 4)
