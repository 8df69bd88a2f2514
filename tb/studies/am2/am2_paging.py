"""What does it cost when a host has more endpoints of Active Messages II than its NIC's memory has frames?

Strategy: AM-II (paper 002). Two hosts have equally many endpoints, in pairs. The first host sends from each of its
endpoints to its partner in turn, without waiting for the answers. The number of pairs grows from 1 to three times the
frames. Up to the number of frames no endpoint is paged. Beyond it, endpoints are loaded when a process stores to them
or a message arrives for them, with messages in flight. Each message must arrive once. The driver's log gives the parts
of the time to load an endpoint: wait for earlier loads, wait for a frame (its endpoint must be quiet and have been
resident for a time-out), eviction, and load.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from tb.lab.lab import Lab
from tb.plan.options import Option, layer_options
from tb.studies.am2._am2 import FIRST, TAG, Endpoints
from tb.studies.kit.hosts import start_in_turn

if TYPE_CHECKING:
    from firmware.am2.host import Endpoint, Token

LAYER = "am2"
KEEP = FIRST
OPTIONS = {
    "uses": Option(1, "messages of each endpoint", 1, 10_000),
    "size": Option(1024, "bytes of payload", 0, 8192, unit="bytes"),
    **layer_options(LAYER),
    "am2.frames": Option(2, "endpoints in the NIC's memory", 1, 16),
    "am2.timeout_us": Option(300, "time-out after which an unacknowledged message is retransmitted", 5, 1_000_000),
}
QUICK = "size=64"


class Pairs:
    """Endpoints of both hosts, and the messages that reached the second one."""

    def __init__(self, lab: Lab, ends: Endpoints) -> None:
        self.lab, self.ends = lab, ends
        self.near: list[Endpoint] = []
        self.far: list[Endpoint] = []
        self.came: Counter[tuple[int, ...]] = Counter()
        self.last = 0
        """Time at which the last message was handled, ps."""

    async def keep(self, token: Token) -> None:
        """Handle a message: count it."""
        self.came[token.arguments] += 1
        self.last = self.lab.kernel.now

    async def grow(self, count: int) -> None:
        """Open endpoints until there are `count` pairs."""
        while len(self.near) < count:
            one, other = [await self.ends.open(self.ends.bundles[host], self.keep) for host in (0, -1)]
            one.map(0, other.name, TAG)
            self.near.append(one)
            self.far.append(other)

    async def use(self, count: int) -> tuple[float, list[Any]]:
        """Send the messages of `count` pairs in turn; return the rate in MB/s and the log of loaded endpoints."""
        await self.grow(count)
        size, uses = self.lab.option("size"), self.lab.option("uses")
        logs = [layer.pager.log for layer in (self.ends.layers[0], self.ends.layers[-1])]
        before, begun = [len(log) for log in logs], self.lab.kernel.now
        self.came.clear()
        for use in range(uses):
            for number, endpoint in enumerate(self.near[:count]):
                await endpoint.request_i(0, KEEP, bytes(size), number, use)
        await self.ends.bundles[0].until(lambda: not any(one.unanswered for one in self.near), "the answers")
        brought = [one for log, since in zip(logs, before, strict=True) for one in log[since:]]
        self.lab.findings.messages += uses * count
        return size * uses * count / (self.last - begun) * 1e6, brought

    def lost(self, count: int) -> int:
        """Return the number of messages that did not arrive."""
        sent = ((number, use) for number in range(count) for use in range(self.lab.option("uses")))
        return sum(not self.came[one] for one in sent)

    @property
    def doubled(self) -> int:
        """Number of messages that arrived more than once."""
        return sum(times - 1 for times in self.came.values())


async def run(lab: Lab) -> None:
    """Run the study."""
    ends = Endpoints(lab, lab.start_layer(LAYER))
    pairs, frames = Pairs(lab, ends), lab.option("am2.frames")
    await start_in_turn(ends.layers)
    counts = sorted({1, max(frames // 2, 1), frames, frames + 1, frames + -(-frames // 2), 2 * frames, 3 * frames})
    await pairs.grow(1)
    ends.endpoints.extend((pairs.near[0], pairs.far[0]))
    ends.serve_far()
    rates, faults, all_brought, lost, doubled = [], [], list[Any](), 0, 0
    for done, count in enumerate(counts):
        rate, brought = await pairs.use(count)
        rates.append(rate)
        faults.append(len(brought) / (lab.option("uses") * count))
        all_brought += brought
        lost, doubled = lost + pairs.lost(count), doubled + pairs.doubled
        lab.progress(done + 1, len(counts), "numbers of endpoints")
    _record(lab, counts, rates, faults, all_brought)
    lab.metric("lost", lost)
    lab.metric("duplicated", doubled)
    lab.check("arrivals", not lost and not doubled, f"{lost} messages were lost, {doubled} arrived twice")
    pairs.near[0].map(1, pairs.far[0].name, TAG)
    await ends.stop(1)
    lab.check("returned messages", not ends.back, "messages were returned")


def _record(lab: Lab, counts: list[int], rates: list[float], faults: list[float], brought: list[Any]) -> None:
    frames = lab.option("am2.frames")
    for count in (frames, frames + 1, 3 * frames):
        what = {frames: "at_frames", frames + 1: "beyond_frames"}.get(count, "at_3_frames")
        lab.metric(f"faults_per_message_{what}", faults[counts.index(count)])
        lab.metric(f"throughput_MBps_{what}", rates[counts.index(count)])
    lab.metric("knee", max(count for count, fault in zip(counts, faults, strict=True) if not fault))
    for stage in ("waited", "room", "out", "back"):
        lab.metric(f"fault_{stage}_us", sum(getattr(one, stage) for one in brought) / len(brought) / 1e6)
    lab.metric("fault_us", sum(sum(one[1:]) for one in brought) / len(brought) / 1e6)
    lab.series("faults_per_message", counts, faults, "endpoints", "frames moved in per message")
    lab.series("throughput", counts, rates, "endpoints", "MB/s")
