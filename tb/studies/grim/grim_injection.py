"""Which way into the NI is the fastest at each size: words, combined stores or DMA; and is a doorbell found sooner?

Strategy: a pair of hosts a way, all else equal: payload written a word at a time, by combined stores, or fetched by the
NI's DMA (option `dma_inject`); and combined stores with the doorbell FIFO in place of the search of all channels
(`doorbell_notify`, which a LANai 4 does not have). Each pair measures the one-way time of each size, and how long the
sender's host is in `send` while queue and NI are idle. The rate of an injection is size over that time.
"""

from __future__ import annotations

from typing import Any

from tb.lab.lab import Lab
from tb.plan.options import Option
from tb.studies.grim._grim import Handlers, RoundTrips, bring_up, tally

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
    "channels": Option(8, "channels that the NI searches, or is spared to search by the doorbells", 1, 32),
    "repetitions": Option(2, "messages of each size and kind", 1, 10_000),
}
IDLE_US = 150
"""Between two injections: the one before has gone."""


async def run(lab: Lab) -> None:
    """The study."""
    ways = [way for way in WAYS if way != "doorbell" or lab.plan.profile.kind != "lanai4"]
    of_host = {vnn: WAYS[ways[vnn // 2]] for vnn in range(2 * len(ways))}
    libraries = lab.start_layer(LAYER, {"channels": lab.option("channels"), "multicast_trees": 0}, of_host)
    pairs = [_Pair(lab, way, libraries[2 * i], libraries[2 * i + 1]) for i, way in enumerate(ways)]
    handlers = [one for pair in pairs for one in pair.handlers()]
    await bring_up(lab, libraries, [*handlers, *({} for _ in libraries[len(handlers) :])])
    for done, pair in enumerate(pairs):
        await pair.measure(lab.option("repetitions"))
        lab.progress(done + 1, len(pairs), "ways")


class _Pair(RoundTrips):
    """Two hosts that inject in one way."""

    def __init__(self, lab: Lab, way: str, near: Any, far: Any) -> None:
        super().__init__(lab, way, near, far, max(SIZES))
        self._numbers: list[int] = []

    def handlers(self) -> tuple[Handlers, Handlers]:
        """Those of both hosts."""
        near, far = super().handlers()
        return near, {**far, f"data_{self.name}": self._on_data}

    def _on_data(self, source: int, number: int, size: int, a2: int, a3: int, payload: memoryview) -> None:
        self._numbers.append(number)
        self.lab.check(payload == self.source.bytes[:size], f"{self.name}: {size} bytes arrived changed")

    async def measure(self, repetitions: int) -> None:
        """All sizes."""
        lab, latencies = self.lab, [await self.one_way_us(size, repetitions) for size in SIZES]
        injections = await self._inject(repetitions)
        for size, latency, injection in zip(SIZES, latencies, injections, strict=True):
            lab.metric(f"one_way_us_{self.name}_{size}B", latency)
            lab.metric(f"send_us_{self.name}_{size}B", injection)
            if size:
                lab.metric(f"inject_MBps_{self.name}_{size}B", size / injection)
        lab.series(f"one_way_{self.name}", SIZES, latencies, "B", "us")
        rates = [size / us for size, us in zip(SIZES, injections, strict=True)]
        lab.series(f"injection_{self.name}", SIZES, rates, "B", "MB/s")
        tally(lab, [(self._numbers, range(len(SIZES) * repetitions))], f"_{self.name}")

    async def _inject(self, repetitions: int) -> list[float]:
        """By size: how long a host is in `send`, the mean, us."""
        lab, near, far = self.lab, self.near, self.far
        data, where = await near.resolve_handler(f"data_{self.name}"), near.get_dest_id(far.get_my_vnn())
        due, number, means = len(SIZES) * repetitions, 0, []
        serving = lab.spawn(far.wait_for(lambda: len(self._numbers) >= due), f"far host of {self.name}")
        for size in SIZES:
            spent = 0
            for _ in range(repetitions):
                await lab.kernel.sleep(IDLE_US * 1_000_000, "the message before to have gone")
                begun = lab.kernel.now
                await near.send(where, data, number, size, payload=self.source.region(size))
                spent += lab.kernel.now - begun
                number += 1
            means.append(spent / repetitions / 1e6)
        await lab.all([serving])
        lab.findings.messages += due
        return means
