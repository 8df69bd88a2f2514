"""Which injection into the NI is fastest at each size: words, combined stores or DMA; and is a doorbell detected
earlier?

Strategy: one pair of hosts for each way, all else equal. Payload is written a word at a time, by combined stores, or
fetched by the NI's DMA (option `dma_inject`); a fourth pair uses combined stores with the doorbell FIFO in place of the
channel search (`doorbell_notify`, which a LANai 4 does not support). Each pair measures the one-way time of each size,
and the time that the sender's host is in `send` while queue and NI are idle. The injection rate is size over that time.
"""

from __future__ import annotations

from tb.lab.lab import Lab
from tb.plan.options import Option
from tb.studies.grim._grim import OneWay, start_pairs
from tb.studies.kit.arrivals import tally
from tb.studies.kit.findings import curve

LAYER = "grim"
NEEDS = ("doorbells and fetched payloads",)
CLUSTER = "eight_hosts"
WAYS: dict[str, dict[str, float | str]] = {
    "words": {"write_combine": 0},
    "combined": {},
    "dma": {"dma_inject": 1},
    "doorbell": {"doorbell_notify": 1},
}
SIZES = (0, 16, 64, 256, 1024, 4096)
OPTIONS = {
    "channels": Option(8, "channels that the NI searches, unless it uses doorbells", 1, 32),
    "repetitions": Option(2, "messages of each size and kind", 1, 10_000),
}
IDLE_US = 150
"""Time in us between two injections, in which the previous message leaves."""


async def run(lab: Lab) -> None:
    """Run the study."""
    ways = [way for way in WAYS if way != "doorbell" or lab.plan.profile.kind != "lanai4"]
    common = {"channels": lab.option("channels"), "multicast_trees": 0}
    choices = [WAYS[way] for way in ways]
    pairs = await start_pairs(lab, choices, lambda i, near, far: _Pair(lab, ways[i], near, far, max(SIZES)), common)
    for done, pair in enumerate(pairs):
        await pair.measure(lab.option("repetitions"))
        lab.progress(done + 1, len(pairs), "ways")


class _Pair(OneWay):
    """Two hosts that inject in one way."""

    def on_data(self, source: int, number: int, size: int, a2: int, a3: int, payload: memoryview) -> None:
        """Handle a one-way message."""
        self.numbers.append(number)
        self.lab.check(
            "received bytes", payload == self.source.bytes[:size], f"{self.name}: {size} bytes arrived corrupted"
        )

    async def measure(self, repetitions: int) -> None:
        """Measure all sizes."""
        lab, latencies = self.lab, [await self.one_way_us(size, repetitions) for size in SIZES]
        injections = await self._inject(repetitions)
        for size, injection in zip(SIZES, injections, strict=True):
            lab.metric(f"send_us_{self.name}_{size}B", injection)
            if size:
                lab.metric(f"inject_MBps_{self.name}_{size}B", size / injection)
        curve(lab, f"one_way_{self.name}", SIZES, latencies, "B", "us", f"one_way_us_{self.name}_{{}}B")
        rates = [size / us for size, us in zip(SIZES, injections, strict=True)]
        lab.series(f"injection_{self.name}", SIZES, rates, "B", "MB/s")
        tally(lab, [(self.numbers, range(len(SIZES) * repetitions))], f"_{self.name}")

    async def _inject(self, repetitions: int) -> list[float]:
        """Return the mean time that a host is in `send` in us, by size."""
        lab, near = self.lab, self.near
        data, where = await self.to_far()
        due, number, means = len(SIZES) * repetitions, 0, []
        serving = self.reading(lambda: len(self.numbers) >= due)
        for size in SIZES:
            spent = 0
            for _ in range(repetitions):
                await lab.kernel.sleep(IDLE_US * 1_000_000, "the previous message to leave")
                begun = lab.kernel.now
                await near.send(where, data, number, size, payload=self.source.region(size))
                spent += lab.kernel.now - begun
                number += 1
            means.append(spent / repetitions / 1e6)
        await lab.all([serving])
        lab.findings.messages += due
        return means
