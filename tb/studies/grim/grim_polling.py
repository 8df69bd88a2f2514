"""What does the polling thread add to a message's latency, and what does it take from an application that computes?

Strategy: null messages go to a host whose application polls explicitly, then to one whose library has a polling thread,
over its period; from the call of `send` to the moment when the application that waits for the message goes on. They are
sent at random times by seed, so that all phases of the thread are met. Then the far application computes
without ever polling, a chunk at a time, and what the thread takes from it is measured against the same computation
without one.
"""

from __future__ import annotations

import random
import statistics
from typing import Any

from tb.lab.lab import Lab
from tb.plan.options import Option, layer_options
from tb.studies.grim._grim import bring_up, of_ends
from tb.studies.kit.findings import curve

LAYER = "grim"
PERIODS = (10, 20, 50, 100)
"""Of the polling thread, in us."""
OPTIONS = {
    "repetitions": Option(50, "messages for each way of polling", 1, 100_000),
    "compute_us": Option(500, "length of the computation that the thread disturbs", 10, 1_000_000),
    **layer_options(LAYER),
}
CHUNK = 20
"""Paths of `copy_line` that the computation makes between two chances for the thread (1.3 us)."""


async def run(lab: Lab) -> None:
    """The study."""
    libraries = lab.start_layer(LAYER, {"poll_thread": 0})
    pair = _Pair(lab, libraries)
    await pair.enable()
    explicit = await pair.one_way()
    lab.metric("explicit_us_0B", explicit)
    free = await pair.compute()
    latencies, taken = [], []
    for period in PERIODS:
        pair.far.start_polling(period)
        latency = await pair.one_way()
        share = 1 - free / await pair.compute()
        pair.far.polling_thread.stop()
        await pair.far.host.sleep(1_000_000 * period)
        latencies.append(latency)
        taken.append(100 * share)
        lab.metric(f"added_us_{period}us", latency - explicit)
        lab.check(latency > explicit, f"a thread with a period of {period} us is no later than explicit polling")
    curve(lab, "one_way_with_thread", PERIODS, latencies, "us of period", "us", "thread_{}us_us_0B")
    curve(lab, "taken_from_application", PERIODS, taken, "us of period", "%", "taken_percent_{}us")


class _Pair:
    """The host that sends, and the host that waits."""

    def __init__(self, lab: Lab, libraries: list[Any]) -> None:
        self.lab = lab
        self.libraries = libraries
        self.near, self.far = libraries[0], libraries[-1]
        self.count = 0
        self._random = random.Random(f"phases {lab.seed}")

    async def enable(self) -> None:
        """Bring both libraries up."""
        await bring_up(self.lab, self.libraries, of_ends(self.libraries, {}, {"null": self._on_null}))
        self.null = await self.near.resolve_handler("null")
        self.to_far = self.near.get_dest_id(self.far.get_my_vnn())

    async def one_way(self) -> float:
        """Mean of the one-way times, in us."""
        return statistics.mean([await self._message() for _ in range(self.lab.option("repetitions"))]) / 1e6

    async def _message(self) -> int:
        """One message at a random phase of the thread; picoseconds until the far application goes on."""
        goes_on = self.lab.spawn(self._wait(self.count + 1), "far application")
        await self.near.host.sleep(self._random.randrange(20_000_000, 20_000_000 + 1_000_000 * PERIODS[-1]))
        begun = self.lab.kernel.now
        await self.near.send(self.to_far, self.null)
        self.lab.findings.messages += 1
        return int(await goes_on.finished) - begun

    async def _wait(self, count: int) -> int:
        await self.far.wait_for(lambda: self.count == count)
        return self.lab.kernel.now

    def _on_null(self, source: int, a0: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
        self.count += 1

    async def compute(self) -> int:
        """How long the far application computes; picoseconds."""
        host, begun = self.far.host, self.lab.kernel.now
        for _ in range(self.lab.option("compute_us") * 1000 // 1300):
            await host.spend("copy_line", CHUNK)
        return int(self.lab.kernel.now - begun)
