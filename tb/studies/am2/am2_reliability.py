"""Do messages of Active Messages II arrive exactly once on a network that loses and damages packets?

Strategy: AM-II (paper 002). All hosts send each other random requests, some with payload; each is answered. Packets are
lost and damaged (`fault.loss`, `fault.damage`), messages and acknowledgements alike. Each request carries its number,
so the receiver detects lost, duplicated and changed requests. A run with `fault.loss=0 fault.damage=0` shows the cost
of the losses. With `endpoints` each host has several, of weights 1, 2 and 4, and sends from any of them to any; with
more than `am2.frames` they are also paged.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import TYPE_CHECKING

from firmware.am2.nic.layout import Word
from tb.lab.lab import Lab
from tb.plan.options import Option, layer_options
from tb.studies.am2._am2 import FIRST, TAG, Endpoints
from tb.studies.kit.hosts import together
from tb.studies.kit.traffic import others

if TYPE_CHECKING:
    from firmware.am2.host import Endpoint, Token

LAYER = "am2"
CLUSTER = "four_hosts"
TAKE, ANSWERED = FIRST, FIRST + 1
WEIGHTS = (1, 2, 4)
COUNTED = {"resent": Word.RESENT, "duplicates_dropped": Word.DUPLICATES, "damaged": Word.BAD}
"""Counters in the NICs that are recorded."""
OPTIONS = {
    "messages": Option(120, "requests of all hosts together, equally many each", 1, 100_000_000),
    "endpoints": Option(1, "endpoints of each host", 1, 16),
    "largest": Option(600, "maximum payload in bytes; every third message has payload", 1, 8192, unit="bytes"),
    **layer_options(LAYER),
    "fault.loss": Option(0.01, "probability that a packet is lost before it reaches a host, by seed", 0, 1),
    "fault.damage": Option(0.01, "probability that a bit of a packet is flipped before it reaches a host", 0, 1),
    "am2.timeout_us": Option(400, "time-out after which an unacknowledged message is retransmitted", 5, 1_000_000),
}
QUICK = "messages=32 fault.loss=0.05"
TINY = "messages=12 largest=100 fault.loss=0.05 am2.timeout_us=150"


class Traffic:
    """Requests of all hosts, and their outcome."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.ends = Endpoints(lab, lab.start_layer(LAYER))
        self.hosts = len(self.ends.layers)
        self.each = max(lab.option("messages") // self.hosts, 1)
        self.count = lab.option("endpoints")
        self.endpoints: list[list[Endpoint]] = []
        """Endpoints of each host."""
        self.seen: set[tuple[int, int]] = set()
        """Received requests, as (node, number)."""
        self.twice = self.changed = self.answers = self.bytes = 0

    def payload(self, node: int, number: int) -> bytes:
        """Return the payload of a request."""
        rng = random.Random(f"{self.lab.seed} {node} {number}")
        return rng.randbytes(rng.randrange(1, self.lab.option("largest") + 1)) if number % 3 == 0 else b""

    async def take(self, token: Token) -> None:
        """Handle a request: check and count it."""
        node, number = token.arguments
        self.twice += (node, number) in self.seen
        self.seen.add((node, number))
        self.changed += token.data != self.payload(node, number) or node != token.source.node
        self.bytes += token.size
        await token.reply(ANSWERED, number)

    async def answered(self, token: Token) -> None:
        """Handle an answer."""
        self.answers += 1

    async def open(self) -> None:
        """Open all endpoints; translation n of each is endpoint n, numbered over all hosts."""
        await self.ends.start(self.take, self.answered)
        for first, bundle in zip(self.ends.endpoints, self.ends.bundles, strict=True):
            further = [WEIGHTS[number % len(WEIGHTS)] for number in range(1, self.count)]
            opened = [await self.ends.open(bundle, self.take, self.answered, weight=weight) for weight in further]
            self.endpoints.append([first, *opened])
        every = [endpoint for own in self.endpoints for endpoint in own]
        for endpoint in every:
            for index, other in enumerate(every):
                endpoint.map(index, other.name, TAG)

    def ways(self, node: int) -> Iterator[tuple[int, int]]:
        """Yield the own endpoint and the target endpoint of each request of a node."""
        rng = random.Random(f"{self.lab.seed} {node}")
        all_others = others(node, self.hosts)
        for _ in range(self.each):
            to = rng.choice(all_others)
            yield (
                (rng.randrange(self.count), to * self.count + rng.randrange(self.count)) if self.count > 1 else (0, to)
            )

    async def program(self, vnn: int) -> None:
        """Run a host: send all requests, then poll until all hosts have received all of theirs."""
        own, bundle = self.endpoints[vnn], self.ends.bundles[vnn]
        for number, (which, to) in enumerate(self.ways(vnn)):
            data = self.payload(vnn, number)
            if data:
                await own[which].request_i(to, TAKE, data, vnn, number)
            else:
                await own[which].request(to, TAKE, vnn, number)
            self.lab.progress(len(self.seen), self.total)
        await bundle.until(lambda: not any(one.unanswered for one in own), "the answers")
        # A host with all of its answers reports it: the others need not serve it any more.
        for other in range(self.hosts):
            if other != vnn:
                await own[0].request(other * self.count, ANSWERED, vnn)
        due = self._to(vnn)
        await bundle.until(lambda: sum(one.handled for one in own) >= due and not own[0].unanswered, "the others' ends")

    def _to(self, vnn: int) -> int:
        """Return the number of requests to a host: those of the traffic, and a final one from each other host."""
        nodes = (node for node in range(self.hosts) if node != vnn)
        return self.hosts - 1 + sum(to // self.count == vnn for node in nodes for _, to in self.ways(node))

    @property
    def total(self) -> int:
        """Number of requests of all hosts."""
        return self.each * self.hosts


async def run(lab: Lab) -> None:
    """Run the study."""
    traffic = Traffic(lab)
    await traffic.open()
    begun = lab.kernel.now
    await together(lab, "host", [traffic.program(vnn) for vnn in range(traffic.hosts)])
    seconds = (lab.kernel.now - begun) / 1e12
    lost = traffic.total - len(traffic.seen)
    lab.metric("lost", lost)
    lab.metric("duplicated", traffic.twice)
    lab.metric("changed", traffic.changed)
    lab.metric("exactly_once", int(not (lost or traffic.twice or traffic.changed)))
    for name, word in COUNTED.items():
        lab.metric(name, sum(nic.load(word) for nic in lab.running.nics))
    lab.metric("messages_per_s", traffic.total / seconds)
    lab.metric("payload_MBps", traffic.bytes / seconds / 1e6)
    lab.findings.messages += 2 * traffic.total
    lab.check("returned messages", not traffic.ends.back, f"{len(traffic.ends.back)} messages were returned")
    failure = f"{lost} messages lost, {traffic.twice} duplicated, {traffic.changed} changed"
    lab.check("arrivals", not (lost or traffic.twice or traffic.changed), failure)
