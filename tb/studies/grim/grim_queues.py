"""What do the three styles of a NI's message queue cost: room and latency over message sizes?

Strategy: three pairs of hosts, one a style (paper 000, 4.2.2), with queues of the same size. How many messages of a
size a host appends before the queue is full says how much of it is used for payload; a round trip of each size, the
latency.
"""

from __future__ import annotations

from typing import Any

from tb.lab.lab import Lab
from tb.plan.options import Option
from tb.studies.grim._grim import Handlers, RoundTrips, bring_up

LAYER = "grim"
NEEDS = ("slotted and hybrid queues",)
CLUSTER = "eight_hosts"
STYLES = ("append", "slotted", "hybrid")
SIZES = (0, 64, 256, 1024, 4096)
OPTIONS = {
    "queue": Option(16384, "bytes of each queue", 16384, 1 << 18, unit="bytes"),
    "repetitions": Option(2, "round trips of each size", 1, 10_000),
}


async def run(lab: Lab) -> None:
    """The study."""
    of_host = {vnn: {"queue_style": STYLES[vnn // 2]} for vnn in range(2 * len(STYLES))}
    libraries = lab.start_layer(LAYER, {"queue_bytes": lab.option("queue"), "host_queue_bytes": 1 << 17}, of_host)
    pairs = [_Pair(lab, style, libraries[2 * i], libraries[2 * i + 1]) for i, style in enumerate(STYLES)]
    handlers = [one for pair in pairs for one in pair.handlers()]
    await bring_up(lab, libraries, [*handlers, *({} for _ in libraries[len(handlers) :])])
    for done, (style, pair) in enumerate(zip(STYLES, pairs, strict=True)):
        latencies, shares = [], []
        for size in SIZES:
            latencies.append(await pair.one_way_us(size, lab.option("repetitions")))
            count = await pair.fill(size)
            shares.append(100 * count * size / lab.option("queue"))
            lab.metric(f"one_way_us_{style}_{size}B", latencies[-1])
            lab.metric(f"messages_{style}_{size}B", count)
            lab.metric(f"payload_percent_{style}_{size}B", shares[-1])
        lab.series(f"one_way_{style}", SIZES, latencies, "B", "us")
        lab.series(f"payload_share_{style}", SIZES, shares, "B", "%")
        lab.progress(done + 1, len(STYLES), "styles")


class _Pair(RoundTrips):
    """Two hosts whose queues have one style."""

    def __init__(self, lab: Lab, style: str, near: Any, far: Any) -> None:
        super().__init__(lab, style, near, far, max(SIZES))
        self._arrived = 0

    def handlers(self) -> tuple[Handlers, Handlers]:
        """Those of both hosts."""
        near, far = super().handlers()
        return near, {**far, f"data_{self.name}": self._on_data}

    def _on_data(self, source: int, a0: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
        self._arrived += 1

    async def fill(self, size: int) -> int:
        """How many messages of a size the host appends to its empty queue before it must ask the NI for room."""
        near, far, outgoing = self.near, self.far, self.near.calls.messenger.queues.outgoing[0]
        data, where = await near.resolve_handler(f"data_{self.name}"), near.get_dest_id(far.get_my_vnn())
        self._arrived = count = 0
        due = [1 << 30]
        await self.lab.kernel.sleep(100_000_000, "the last answers")
        await outgoing.look()
        serving = self.lab.spawn(far.wait_for(lambda: self._arrived >= due[0]), f"far host of {self.name}")
        while outgoing.fits((size + 3) // 4):
            await near.send(where, data, payload=self.source.region(size))
            count += 1
        due[0] = count + 1
        await near.send(where, data)  # wakes the far host after it knows how many are due
        await self.lab.all([serving])
        self.lab.findings.messages += count
        return count
