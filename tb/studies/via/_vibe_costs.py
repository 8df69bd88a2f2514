"""VIBe micro-benchmarks without data transfer (paper 001, 4.2.1): times to create and destroy VIA objects."""

from __future__ import annotations

import statistics
from collections.abc import Awaitable, Callable
from typing import Any

from pymodels.host.pages import PAGE
from tb.lab.lab import Lab
from tb.studies.via._via_ends import End, join, wait_for_disconnect

PAGES = (1, 16, 256)
"""Sizes of registered regions in pages."""


class Stopwatch:
    """Durations of calls, by name."""

    def __init__(self, lab: Lab) -> None:
        self._lab = lab
        self.times: dict[str, list[int]] = {}

    async def time(self, name: str, call: Awaitable[Any]) -> Any:
        """Await a call, store its duration in ps, and return its result."""
        begun = self._lab.kernel.now
        result = await call
        self.times.setdefault(name, []).append(self._lab.kernel.now - begun)
        return result

    def hand_in(self) -> None:
        """Record the medians as metrics in us."""
        for name, times in self.times.items():
            self._lab.metric(name, statistics.median(times) / 1e6)


async def costs(lab: Lab, near: End, far: End, rounds: int) -> None:
    """Measure creation and destruction of VIs and completion queues, connection and disconnection, and memory
    registration.
    """
    watch = Stopwatch(lab)
    for _ in range(rounds):
        mine = await watch.time("create_vi_us", near.vi())
        its = await far.vi()
        await watch.time("connect_us", join(near, mine, far, its))
        await watch.time("tear_down_us", mine.disconnect())
        await wait_for_disconnect(lab, its)
        await its.disconnect()
        await its.destroy()
        await watch.time("destroy_vi_us", mine.destroy())
        queue = await watch.time("create_cq_us", near.nic.create_cq(256))
        await watch.time("destroy_cq_us", queue.destroy())
        await _registration(watch, near)
    watch.hand_in()


async def _registration(watch: Stopwatch, near: End) -> None:
    for pages in PAGES:
        va = near.process.allocate(PAGE * pages)
        register: Callable[..., Awaitable[int]] = near.nic.register_memory
        handle = await watch.time(f"register_us_{pages}_pages", register(va, PAGE * pages, near.tag))
        await watch.time(f"deregister_us_{pages}_pages", near.nic.deregister_memory(handle))
        near.process.free(va, PAGE * pages)
