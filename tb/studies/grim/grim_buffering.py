"""What do incoming queues in the NI save, and what do they cost: messages injected at once, retransmissions, latency?

Strategy: two pairs of hosts whose NIs have little memory (paper 000, 4.3.3). One pair has buffers at the sending NI
only, the other at both NIs. Each pair measures the latency of a null message, and the number of messages that its host
appends before it must check for room. Then the receiver stops while slightly more is sent than its queue in host memory
holds. The excess waits in its NI, or is rejected and retransmitted.
"""

from __future__ import annotations

from typing import Any

from firmware.grim.formats import HEADER_BYTES
from firmware.grim.nic.layout import Counter
from pymodels.kernel import Task
from tb.lab.lab import Lab
from tb.plan.options import Option
from tb.studies.grim._grim import OneWay, start_pairs
from tb.studies.kit.arrivals import tally

LAYER = "grim"
NEEDS = ("incoming queues",)
CLUSTER = "eight_hosts"
WHERE = ("sending", "both")
OPTIONS = {
    "sram": Option(77824, "bytes of each NIC's memory", 65536, 1 << 21, unit="bytes"),
    "repetitions": Option(5, "round trips", 1, 10_000),
    "more": Option(2, "messages sent to the stopped receiver beyond what its queue holds", 1, 1000),
    "stop_us": Option(1200, "time for which the receiver stops", 10, 100_000),
}


async def run(lab: Lab) -> None:
    """Run the study."""
    common = {"sram_bytes": lab.option("sram"), "segment_bytes": 512, "host_queue_bytes": 2048}
    common |= {"reply_bytes": 4096, "multicast_trees": 0}
    choices = [{"buffering": where} for where in WHERE]
    pairs = await start_pairs(lab, choices, lambda i, near, far: _Pair(lab, WHERE[i], near, far), common)
    for done, pair in enumerate(pairs):
        lab.metric(f"one_way_us_{pair.name}_0B", await pair.one_way_us(0, lab.option("repetitions")))
        lab.metric(f"injected_at_once_{pair.name}", await pair.fill())
        await pair.stop_and_go(pair.far.layout.host_limit // HEADER_BYTES + lab.option("more"))
        tally(lab, pair.arrived, f"_{pair.name}")
        lab.progress(done + 1, len(pairs), "ways to buffer")
    at_once = [lab.findings.metrics[f"injected_at_once_{where}"] for where in WHERE]
    lab.series("injected_at_once", (0, 1), at_once, "NIs with incoming queues", "messages")
    lab.check(
        "outgoing room",
        at_once[0] > at_once[1],
        f"incoming queues did not reduce the outgoing room: {at_once} messages",
    )


class _Pair(OneWay):
    """Two hosts whose NIs buffer in one way."""

    def __init__(self, lab: Lab, where: str, near: Any, far: Any) -> None:
        super().__init__(lab, where, near, far, 64)
        self.arrived: list[tuple[list[int], range]] = []
        """Received and expected numbers of each load of messages."""

    async def fill(self) -> int:
        """Append on the near host until it must check for room, while the far host reads; return the number of
        messages.
        """
        near, outgoing = self.near, self.near.calls.messenger.queues.outgoing[0]
        self.numbers.clear()
        await outgoing.look()
        data, where, count, stop = *await self.to_far(), 0, [1 << 30]
        serving = self.reading(lambda: len(self.numbers) >= stop[0])
        while outgoing.fits(0):
            await near.send(where, data, count)
            count += 1
        stop[0] = count + 1
        await near.send(where, data, count)
        await self._served(serving, count + 1)
        return count

    async def stop_and_go(self, count: int) -> None:
        """Send to a stopped host, which then reads until all messages have arrived."""
        lab, near, far = self.lab, self.near, self.far
        self.numbers.clear()
        data, where = await self.to_far()
        counters = (
            ("resent", near, Counter.RESENT),
            ("nacks", far, Counter.NACKS_SENT),
            ("queued", far, Counter.QUEUED),
        )
        before = [await library.ni_counter(counter) for _, library, counter in counters]
        begun = lab.kernel.now
        for number in range(count):
            await near.send(where, data, number)
        await lab.kernel.sleep(lab.option("stop_us") * 1_000_000 - (lab.kernel.now - begun), "the pause")
        await self._served(self.reading(lambda: len(self.numbers) >= count), count)
        for (name, library, counter), old in zip(counters, before, strict=True):
            lab.metric(f"{name}_{self.name}", await library.ni_counter(counter) - old)

    async def _served(self, serving: Task, count: int) -> None:
        await self.lab.all([serving])
        self.lab.findings.messages += count
        self.arrived.append((self.numbers.copy(), range(count)))
