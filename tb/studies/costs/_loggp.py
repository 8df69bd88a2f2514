"""Measurement of LogGP studies: netgauge's PRTT(n, d, s) between two hosts with mail (`pymodels.loggp.parameters`)."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping
from typing import Protocol

from firmware.layers import with_mail
from firmware.stack import layers_below
from pymodels.kernel import Kernel, Task
from pymodels.loggp.parameters import Rounds
from pymodels.profiles import DEFAULT_PROFILE, load_profile
from tb.plan.fitting import fitting_profile
from tb.studies.kit.mail import End
from tb.studies.kit.payload import pattern
from tb.studies.kit.rounds import phases

COUNT = 10
"""Number of messages n, as in netgauge."""


class Loop(Protocol):
    """Environment of tasks: a kernel and a check."""

    @property
    def kernel(self) -> Kernel:
        """Kernel that runs tasks in simulated time."""

    def check(self, name: str, holds: bool, failure: str) -> None:
        """Report `failure` unless a condition holds."""


class Pair:
    """Host that sends a burst, and host that answers it."""

    def __init__(self, lab: Loop, near: End, far: End, repetitions: int, seed: int) -> None:
        self._lab, self._near, self._far, self._repetitions = lab, near, far, repetitions
        self._pause = phases(f"phases {seed}")
        self.messages = 0

    async def measure(self, size: int) -> Rounds:
        """Return all rounds with messages of a size."""
        single = await self._median(lambda: self._round(1, 0, size))
        delay = int(single)
        burst = await self._median(lambda: self._round(COUNT, 0, size))
        spaced = await self._median(lambda: self._round(COUNT, delay, size))
        o_r = await self._median(lambda: self._received(delay, size))
        return Rounds(size, COUNT, delay, single, burst, spaced, o_r)

    async def _median(self, once: Callable[[], object]) -> float:
        found = []
        for _ in range(self._repetitions):
            await self._lab.kernel.sleep(self._pause(), "the next round")
            found.append(await once())  # type: ignore[misc]
        return float(statistics.median(found))

    async def _round(self, count: int, delay: int, size: int) -> float:
        """Return PRTT(n, d, s)."""
        return (await self._both(count, delay, 0, size))[0]

    async def _received(self, delay: int, size: int) -> float:
        """Return the receive overhead o_r.

        The far host waits before each receive until the next message has certainly arrived. netgauge lets both hosts
        wait equally long, and would measure o_s where that is larger.
        """
        return (await self._both(COUNT, delay, 2 * delay, size))[1]

    async def _both(self, count: int, delay: int, pause: int, size: int) -> tuple[float, float]:
        """Return the near host's time for the whole round, and the far host's time per message without its pauses."""
        ends = self._sends(count, delay, size), self._answers(count, pause, size)
        tasks = [self._lab.kernel.spawn(end, name) for end, name in zip(ends, ("near", "far"), strict=True)]
        whole, taken = [await _result(task) for task in tasks]
        self.messages += count + 1
        return whole, taken

    async def _sends(self, count: int, delay: int, size: int) -> float:
        kernel, mail, data = self._lab.kernel, self._near.mail, pattern(size)
        begun = kernel.now
        for number in range(count):
            if number and delay:
                await kernel.sleep(delay, "the next message of a round")
            await mail.send(self._far.node, data)
        back = await mail.receive()
        took = kernel.now - begun
        self._lab.check("returned bytes", back == (self._far.node, data), f"{size} bytes returned corrupted")
        return took

    async def _answers(self, count: int, pause: int, size: int) -> float:
        kernel, mail, data = self._lab.kernel, self._far.mail, pattern(size)
        came = [await mail.receive()]
        begun = kernel.now
        for _ in range(count - 1):
            if pause:
                await kernel.sleep(pause, "other work")
            came.append(await mail.receive())
        took = kernel.now - begun - pause * (count - 1)
        await mail.send(self._near.node, data)
        self._lab.check(
            "bytes of the stream", came == [(self._near.node, data)] * count, f"{size} bytes arrived corrupted"
        )
        return took / max(count - 1, 1)


async def _result(task: Task) -> float:
    return float(await task.finished)


def sizes_up_to(largest: int, count: int) -> list[int]:
    """Return `count` sizes in equal steps from one word on, each in whole words."""
    words = largest // 4
    return sorted({4 * max(round(at * words / (count - 1)), 1) for at in range(count)})


def variants(settings: str = "") -> Mapping[str, tuple[str, str]]:
    """Return a variant for each layer with mail on each layer below it, with its NIC and the same host for all."""
    host = load_profile(DEFAULT_PROFILE).name.partition("+")[2]
    found = {}
    for layer in with_mail():
        for on in layers_below(layer) or ("",):
            several = len(layers_below(layer)) > 1
            nic = fitting_profile(layer, {layer: {"on": on}} if on else {}).name.partition("+")[0]
            chosen = f"layer={layer}" + (f" {layer}.on={on}" if several else "")
            found[f"{layer}-{on}" if several else layer] = (f"{nic}+{host}", f"{chosen} {settings}".strip())
    return found
