"""How does one congested endpoint affect the others of its host, with per-NI and with any-to-any sequencing?

Strategy: two pairs of hosts, one for each way of sequencing (paper 000, 4.3.2). The near host sends equally many
messages on each of its channels to the endpoint of the same number. Each endpoint is served separately. Number 0 starts
late, so that its queue in host memory fills and the NI rejects its messages. The message rate of each endpoint, and the
number of retransmissions, show which endpoints are affected. Every message must arrive once and in order.
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
    "late_us": Option(2500, "time in which endpoint 0 does not read", 1, 1_000_000),
}
LOOK_PS = 2_000_000
"""Interval in ps of an endpoint's polls."""


async def run(lab: Lab) -> None:
    """Run the study."""
    common = {"channels": lab.option("channels"), "segment_bytes": 64, "host_queue_bytes": 1024, "queue_bytes": 16384}
    choices = [{"sequencing": scheme} for scheme in SCHEMES]
    pairs = await start_pairs(lab, choices, lambda i, near, far: _Pair(lab, SCHEMES[i], near, far), common)
    rates = {}
    for done, (scheme, pair) in enumerate(zip(SCHEMES, pairs, strict=True)):
        rates[scheme] = await pair.run()
        lab.progress(done + 1, len(SCHEMES), "ways of sequencing")
    others = [min(rates[scheme][1:]) for scheme in SCHEMES]
    lab.check(
        "rates of the other endpoints",
        others[0] > 1.5 * others[1],
        f"the other endpoints are not slowed down per NI: {others} messages/s (any-to-any, per NI)",
    )


class _Pair:
    """Host that sends on all channels, and the endpoints of another one."""

    def __init__(self, lab: Lab, scheme: str, near: Any, far: Any) -> None:
        self.lab, self.near, self.far = lab, near, far
        self.name = scheme.replace("-", "_")
        self.count, self.channels = lab.option("messages"), lab.option("channels")
        self.arrived: list[list[int]] = [[] for _ in range(self.channels)]
        """Received message numbers in order of arrival, by endpoint."""

    def handlers(self) -> tuple[Handlers, Handlers]:
        """Return the handlers of both hosts."""
        return {}, {"data": self.take}

    async def run(self) -> list[float]:
        """Send all messages, and return the message rate of each endpoint per second."""
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
        """Poll one endpoint until its last message, and return that time in ps."""
        lab = self.lab
        if channel == 0:
            await lab.kernel.sleep(lab.option("late_us") * 1_000_000, "endpoint 0 to begin")
        while len(self.arrived[channel]) < self.count:
            if not await self.far.poll(channel):
                await lab.kernel.sleep(LOOK_PS, "the next look of an endpoint")
        return lab.kernel.now

    def take(self, source: int, number: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
        """Handle a message. A channel leads to the endpoint of its own number."""
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
