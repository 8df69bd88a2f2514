"""When should a refused message go again: at once, or after a delay, and after how long?

Strategy: a pair of hosts a retry delay, all else equal (paper 000, 4.2.1, names none). One endpoint of the far host
stops while the near host sends more to it than its queue holds; the refused stream then comes again and again until
there is room. Meanwhile single messages to another endpoint cross the same NIs and link: how long they take is the
price of coming early, and how late the last refused one is after the endpoint goes on is the price of coming late.
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
    "stop_us": Option(800, "how long it stops", 10, 1_000_000),
    "pace_us": Option(20, "between two messages to the other endpoint", 5, 100_000),
}
COMMON = {"channels": 2, "segment_bytes": 64, "host_queue_bytes": 1024, "queue_bytes": 32768}
LOOK_PS = 1_000_000
"""Between two looks of an endpoint at its queue."""


async def run(lab: Lab) -> None:
    """The study."""
    choices = [{"retry_delay_us": us} for us in DELAYS_US]
    pairs = await start_pairs(lab, choices, lambda i, near, far: _Pair(lab, DELAYS_US[i], near, far), COMMON)
    for done, pair in enumerate(pairs):
        await pair.measure()
        lab.progress(done + 1, len(pairs), "delays")
    for name, unit in (("resent", "messages"), ("late_us", "us"), ("others_us", "us")):
        values = [lab.findings.metrics[f"{name}_{us}us"] for us in DELAYS_US]
        lab.series(name, DELAYS_US, values, "us", unit)


class _Pair:
    """A host that sends, and one with an endpoint that stops and another that does not."""

    def __init__(self, lab: Lab, delay_us: int, near: Any, far: Any) -> None:
        self.lab, self.near, self.far = lab, near, far
        self.name = f"{delay_us}us"
        self.arrived: tuple[list[int], list[int]] = ([], [])
        """By endpoint."""
        self._sent: list[int] = []
        self._came: list[int] = []
        """When each message to the other endpoint was sent, and when it was taken, ps."""
        self._over = False

    def handlers(self) -> tuple[Handlers, Handlers]:
        """Those of both hosts."""
        return {}, {"data": self.take}

    async def measure(self) -> None:
        """The refused stream and the other one."""
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
        """Send on channel 1 while the other endpoint stops; how many messages."""
        near, lab = self.near, self.lab
        data, where = await near.resolve_handler("data"), near.get_dest_id(self.far.get_my_vnn(), 0, 1)
        while lab.kernel.now < until:
            await lab.kernel.sleep(lab.option("pace_us") * 1_000_000, "the next message")
            self._sent.append(lab.kernel.now)
            await near.send(where, data, len(self._sent) - 1, channel=1)
        return len(self._sent)

    async def _serve(self, channel: int, stop_ps: int) -> None:
        """Take what comes to an endpoint, after a stop."""
        await self.lab.kernel.sleep(stop_ps, "an endpoint to go on")
        while not self._over:
            if not await self.far.poll(channel):
                await self.lab.kernel.sleep(LOOK_PS, "the next look of an endpoint")

    def take(self, source: int, number: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
        """The handler: both channels lead to endpoints of their own number."""
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
            nacks > 0, f"{name}: no message was refused; a slower NI needs SET stop_us=... and pace_us=... longer"
        )
        lab.metric(f"late_us_{name}", late / 1e6)
        taken = [came - sent for sent, came in zip(self._sent, self._came, strict=True)]
        lab.metric(f"others_us_{name}", statistics.mean(taken) / 1e6)
        lab.findings.messages += count + others
