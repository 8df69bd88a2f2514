"""What does the polling thread add to a message's latency, and what share of the CPU does it take from an application?

Strategy: null messages go to a host whose application polls explicitly, then to one whose library has a polling thread,
over its period. The latency is from the call of `send` until the application that waits for the message continues. They
are sent at random times, so that all phases of the thread occur. Then the far application computes in chunks without
polling, and its time is compared with that of the same computation without a thread.
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
"""Periods of the polling thread in us."""
OPTIONS = {
    "repetitions": Option(50, "messages for each way of polling", 1, 100_000),
    "compute_us": Option(500, "length of the computation that the thread disturbs", 10, 1_000_000),
    **layer_options(LAYER),
}
CHUNK = 20
"""Number of `copy_line` paths that the computation executes between two preemption points (1.3 us)."""


async def run(lab: Lab) -> None:
    """Run the study."""
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
        lab.check(
            f"latency at a period of {period} us",
            latency > explicit,
            f"a thread with a period of {period} us is not slower than explicit polling",
        )
    curve(lab, "one_way_with_thread", PERIODS, latencies, "us of period", "us", "thread_{}us_us_0B")
    curve(lab, "taken_from_application", PERIODS, taken, "us of period", "%", "taken_percent_{}us")


class _Pair:
    """Host that sends, and host that waits."""

    def __init__(self, lab: Lab, libraries: list[Any]) -> None:
        self.lab = lab
        self.libraries = libraries
        self.near, self.far = libraries[0], libraries[-1]
        self.count = 0
        self._random = random.Random(f"phases {lab.seed}")

    async def enable(self) -> None:
        """Start both libraries."""
        await bring_up(self.lab, self.libraries, of_ends(self.libraries, {}, {"null": self._on_null}))
        self.null = await self.near.resolve_handler("null")
        self.to_far = self.near.get_dest_id(self.far.get_my_vnn())

    async def one_way(self) -> float:
        """Return the mean one-way time in us."""
        return statistics.mean([await self._message() for _ in range(self.lab.option("repetitions"))]) / 1e6

    async def _message(self) -> int:
        """Send one message at a random phase of the thread; return the time until the far application continues."""
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
        """Return the duration of the far application's computation in ps."""
        host, begun = self.far.host, self.lab.kernel.now
        for _ in range(self.lab.option("compute_us") * 1000 // 1300):
            await host.spend("copy_line", CHUNK)
        return int(self.lab.kernel.now - begun)
