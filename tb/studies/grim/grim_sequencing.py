"""What does one congested endpoint do to the others of its host, when messages are sequenced per NI and any-to-any?

Strategy: two pairs of hosts, one a way of sequencing (paper 000, 4.3.2). The near host sends equally many messages on
each of its channels to the endpoint of the same number. Endpoints are served each by itself; number 0 begins late, so
that its queue in host memory fills and the NI refuses what comes. What each endpoint gets a second, and what had to be
sent again, tells whom that concerns. Every message must arrive once and in order.
"""

from __future__ import annotations

from typing import Any

from firmware.grim.formats import reference
from firmware.grim.nic.layout import Counter
from tb.lab.lab import Lab
from tb.plan.options import Option
from tb.studies.grim._grim import Handlers, start_pairs
from tb.studies.kit.arrivals import tally
from tb.studies.kit.findings import curve

LAYER = "grim"
NEEDS = ("per-NI sequencing",)
CLUSTER = "eight_hosts"
SCHEMES = ("any-to-any", "per-ni")
OPTIONS = {
    "channels": Option(4, "channels and endpoints", 2, 8),
    "messages": Option(60, "messages of each channel", 30, 1000),
    "late_us": Option(2500, "how long endpoint 0 reads nothing", 1, 1_000_000),
}
LOOK_PS = 2_000_000
"""Between two looks of an endpoint at its queue."""


async def run(lab: Lab) -> None:
    """The study."""
    common = {"channels": lab.option("channels"), "segment_bytes": 64, "host_queue_bytes": 1024, "queue_bytes": 16384}
    choices = [{"sequencing": scheme} for scheme in SCHEMES]
    pairs = await start_pairs(lab, choices, lambda i, near, far: _Pair(lab, SCHEMES[i], near, far), common)
    rates = {}
    for done, (scheme, pair) in enumerate(zip(SCHEMES, pairs, strict=True)):
        rates[scheme] = await pair.run()
        lab.progress(done + 1, len(SCHEMES), "ways of sequencing")
    others = [min(rates[scheme][1:]) for scheme in SCHEMES]
    lab.check(others[0] > 1.5 * others[1], f"the others are as fast per NI as any-to-any: {others} messages/s")


class _Pair:
    """A host that sends on all channels, and the endpoints of another."""

    def __init__(self, lab: Lab, scheme: str, near: Any, far: Any) -> None:
        self.lab, self.near, self.far = lab, near, far
        self.name = scheme.replace("-", "_")
        self.count, self.channels = lab.option("messages"), lab.option("channels")
        self.arrived: list[list[int]] = [[] for _ in range(self.channels)]
        """By endpoint: the numbers of its messages, as they came."""

    def handlers(self) -> tuple[Handlers, Handlers]:
        """Those of both hosts."""
        return {}, {"data": self.take}

    async def run(self) -> list[float]:
        """All messages; messages a second of each endpoint."""
        lab, near = self.lab, self.near
        data, begun = await near.resolve_handler("data"), lab.kernel.now
        serving = [lab.spawn(self._serve(channel), f"endpoint {channel}") for channel in range(self.channels)]
        for number in range(self.count):
            for channel in range(self.channels):
                await near.send(near.get_dest_id(self.far.get_my_vnn(), 0, channel), data, number, channel=channel)
        ends = await lab.all(serving)
        lab.findings.messages += self.count * self.channels
        rates = [self.count / (end - begun) * 1e12 for end in ends]
        await self._hand_in(rates)
        return rates

    async def _serve(self, channel: int) -> int:
        """One endpoint: take what comes; when the last message came, ps."""
        lab = self.lab
        if channel == 0:
            await lab.kernel.sleep(lab.option("late_us") * 1_000_000, "endpoint 0 to begin")
        while len(self.arrived[channel]) < self.count:
            if not await self.far.poll(channel):
                await lab.kernel.sleep(LOOK_PS, "the next look of an endpoint")
        return lab.kernel.now

    def take(self, source: int, number: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
        """The handler: a channel leads to the endpoint of its own number."""
        self.arrived[reference(source).channel].append(number)

    async def _hand_in(self, rates: list[float]) -> None:
        lab = self.lab
        tally(lab, ((numbers, range(self.count)) for numbers in self.arrived), f"_{self.name}")
        channels = range(self.channels)
        curve(lab, f"rate_{self.name}", channels, rates, "channel", "messages/s", f"messages_per_s_{self.name}_{{}}")
        for name, library, counter in (
            ("resent", self.near, Counter.RESENT),
            ("nacks", self.far, Counter.NACKS_SENT),
        ):
            lab.metric(f"{name}_{self.name}", await library.ni_counter(counter))
