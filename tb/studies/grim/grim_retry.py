"""Should a rejected message be retransmitted at once or after a delay, and after which delay?

Strategy: one pair of hosts for each retry delay, all else equal (paper 000, 4.2.1, names none). One endpoint of the far
host stops while the near host sends more to it than its queue holds. The rejected stream is retransmitted repeatedly
until there is room. Meanwhile single messages to another endpoint cross the same NIs and link. Their latency is the
cost of early retransmissions. The delay of the last rejected message after the endpoint continues is the cost of late
ones.
"""

from __future__ import annotations

import statistics
from typing import Any

from firmware.grim.formats import reference
from firmware.grim.nic.layout import Counter
from tb.lab.lab import Lab
from tb.plan.options import Option
from tb.studies.grim._grim import Handlers, start_pairs
from tb.studies.kit.arrivals import tally

LAYER = "grim"
CLUSTER = "eight_hosts"
DELAYS_US = (0, 2, 10, 50)
OPTIONS = {
    "messages": Option(60, "messages to the endpoint that stops", 40, 10_000),
    "stop_us": Option(800, "time for which it stops", 10, 1_000_000),
    "pace_us": Option(20, "interval of the messages to the other endpoint", 5, 100_000),
}
COMMON = {"channels": 2, "segment_bytes": 64, "host_queue_bytes": 1024, "queue_bytes": 32768}
LOOK_PS = 1_000_000
"""Interval in ps of an endpoint's polls."""


async def run(lab: Lab) -> None:
    """Run the study."""
    choices = [{"retry_delay_us": us} for us in DELAYS_US]
    pairs = await start_pairs(lab, choices, lambda i, near, far: _Pair(lab, DELAYS_US[i], near, far), COMMON)
    for done, pair in enumerate(pairs):
        await pair.measure()
        lab.progress(done + 1, len(pairs), "delays")
    for name, unit in (("resent", "messages"), ("late_us", "us"), ("others_us", "us")):
        values = [lab.findings.metrics[f"{name}_{us}us"] for us in DELAYS_US]
        lab.series(name, DELAYS_US, values, "us", unit)


class _Pair:
    """Host that sends, and host with an endpoint that stops and another that does not."""

    def __init__(self, lab: Lab, delay_us: int, near: Any, far: Any) -> None:
        self.lab, self.near, self.far = lab, near, far
        self.name = f"{delay_us}us"
        self.arrived: tuple[list[int], list[int]] = ([], [])
        """Received message numbers, by endpoint."""
        self._sent: list[int] = []
        self._came: list[int] = []
        """Times in ps at which the messages to the other endpoint were received; `_sent` holds those of their sends."""
        self._over = False

    def handlers(self) -> tuple[Handlers, Handlers]:
        """Return the handlers of both hosts."""
        return {}, {"data": self.take}

    async def measure(self) -> None:
        """Send the rejected stream and the other one."""
        lab, count, begun = self.lab, self.lab.option("messages"), self.lab.kernel.now
        stop_ps = lab.option("stop_us") * 1_000_000
        serving = [lab.spawn(self._serve(1, 0), "the endpoint that is served")]
        serving.append(lab.spawn(self._serve(0, stop_ps), "the endpoint that stops"))
        sending = lab.spawn(self._send_others(begun + stop_ps), "the messages on channel 1")
        data, where = await self.near.resolve_handler("data"), self.near.get_dest_id(self.far.get_my_vnn(), 0, 0)
        for number in range(count):
            await self.near.send(where, data, number)
        others = (await lab.all([sending]))[0]
        while len(self.arrived[0]) < count or len(self.arrived[1]) < others:
            await lab.kernel.sleep(LOOK_PS, "the last message")
        late = lab.kernel.now - begun - stop_ps
        self._over = True
        await lab.all(serving)
        await self._hand_in(count, others, late)

    async def _send_others(self, until: int) -> int:
        """Send on channel 1 while the other endpoint stops; return the number of messages."""
        near, lab = self.near, self.lab
        data, where = await near.resolve_handler("data"), near.get_dest_id(self.far.get_my_vnn(), 0, 1)
        while lab.kernel.now < until:
            await lab.kernel.sleep(lab.option("pace_us") * 1_000_000, "the next message")
            self._sent.append(lab.kernel.now)
            await near.send(where, data, len(self._sent) - 1, channel=1)
        return len(self._sent)

    async def _serve(self, channel: int, stop_ps: int) -> None:
        """Poll an endpoint after a stop."""
        await self.lab.kernel.sleep(stop_ps, "an endpoint to go on")
        while not self._over:
            if not await self.far.poll(channel):
                await self.lab.kernel.sleep(LOOK_PS, "the next look of an endpoint")

    def take(self, source: int, number: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
        """Handle a message. Both channels lead to endpoints of their own number."""
        channel = reference(source).channel
        self.arrived[channel].append(number)
        if channel:
            self._came.append(self.lab.kernel.now)

    async def _hand_in(self, count: int, others: int, late: int) -> None:
        lab, name = self.lab, self.name
        tally(lab, zip(self.arrived, (range(count), range(others)), strict=True), f"_{name}")
        lab.metric(f"resent_{name}", await self.near.ni_counter(Counter.RESENT))
        nacks = await self.far.ni_counter(Counter.NACKS_SENT)
        lab.metric(f"nacks_{name}", nacks)
        lab.check(
            f"rejections under {name}",
            nacks > 0,
            "no message was rejected; increase stop_us and pace_us for a slow NI",
        )
        lab.metric(f"late_us_{name}", late / 1e6)
        taken = [came - sent for sent, came in zip(self._sent, self._came, strict=True)]
        lab.metric(f"others_us_{name}", statistics.mean(taken) / 1e6)
        lab.findings.messages += count + others
