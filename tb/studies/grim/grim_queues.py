"""What do the three styles of a NI's message queue cost: room and latency over message sizes?

Strategy: three pairs of hosts, one for each style (paper 000, 4.2.2), with queues of the same size. The number of
messages of a size that a host appends before the queue is full gives the share of payload. Round trips of each size
give the latency.
"""

from __future__ import annotations

from tb.lab.lab import Lab
from tb.plan.options import Option
from tb.studies.grim._grim import OneWay, start_pairs
from tb.studies.kit.findings import curve

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
    """Run the study."""
    common = {"queue_bytes": lab.option("queue"), "host_queue_bytes": 1 << 17}
    choices = [{"queue_style": style} for style in STYLES]
    pairs = await start_pairs(lab, choices, lambda i, near, far: _Pair(lab, STYLES[i], near, far, max(SIZES)), common)
    for done, (style, pair) in enumerate(zip(STYLES, pairs, strict=True)):
        latencies, shares = [], []
        for size in SIZES:
            latencies.append(await pair.one_way_us(size, lab.option("repetitions")))
            count = await pair.fill(size)
            shares.append(100 * count * size / lab.option("queue"))
            lab.metric(f"messages_{style}_{size}B", count)
        curve(lab, f"one_way_{style}", SIZES, latencies, "B", "us", f"one_way_us_{style}_{{}}B")
        curve(lab, f"payload_share_{style}", SIZES, shares, "B", "%", f"payload_percent_{style}_{{}}B")
        lab.progress(done + 1, len(STYLES), "styles")


class _Pair(OneWay):
    """Two hosts whose queues have one style."""

    async def fill(self, size: int) -> int:
        """Return the number of messages of a size that the host appends to its empty queue before it must check for
        room.
        """
        near, outgoing = self.near, self.near.calls.messenger.queues.outgoing[0]
        data, where = await self.to_far()
        self.numbers.clear()
        count, due = 0, [1 << 30]
        await self.lab.kernel.sleep(100_000_000, "the last answers")
        await outgoing.look()
        serving = self.reading(lambda: len(self.numbers) >= due[0])
        while outgoing.fits((size + 3) // 4):
            await near.send(where, data, payload=self.source.region(size))
            count += 1
        due[0] = count + 1
        await near.send(where, data)  # wakes the far host after the number of due messages is set
        await self.lab.all([serving])
        self.lab.findings.messages += count
        return count
