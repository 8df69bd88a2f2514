"""What GRIM studies share: bringing the libraries up, and payloads in host memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.random import default_rng

from tb.lab.lab import Lab

Handlers = Mapping[str, Any]


async def bring_up(lab: Lab, libraries: Sequence[Any], handlers: Sequence[Handlers]) -> None:
    """Enable GRIM on every host and publish `handlers` (by name, per host), so that every host knows every handler."""
    await enable(lab, libraries, handlers)
    for _ in range(2):  # the second round tells everyone what others published after their first
        await sync(lab, libraries)


async def enable(lab: Lab, libraries: Sequence[Any], handlers: Sequence[Handlers]) -> None:
    """Enable GRIM on every host; its handlers are registered, and not published."""
    for library, own in zip(libraries, handlers, strict=True):
        for name, function in own.items():
            library.register_handler(function, name)
    await lab.all([lab.spawn(library.load(), f"loader of {i}") for i, library in enumerate(libraries)])
    await lab.all([lab.spawn(library.grim_enable(), f"grim_enable of {i}") for i, library in enumerate(libraries)])


async def sync(lab: Lab, libraries: Sequence[Any]) -> None:
    """Every host publishes its handlers and learns those of the others; the first one serves meanwhile."""
    syncs = [lab.spawn(library.sync_handlers(), f"sync_handlers of {i}") for i, library in enumerate(libraries)]
    await serve_until(lab, libraries[:1], lambda: all(task.finished.done for task in syncs), also=syncs)


async def serve_until(lab: Lab, libraries: Sequence[Any], over: Any, also: Sequence[Any] = ()) -> None:
    """Poll on some hosts until `over()` holds everywhere, waiting for the tasks `also` too."""
    stop = False

    def done() -> bool:
        return stop or bool(over())

    loops = [lab.spawn(_poll_until(lab, library, done), f"poll of {i}") for i, library in enumerate(libraries)]
    await lab.all(also)
    stop = True
    await lab.all(loops)


async def _poll_until(lab: Lab, library: Any, over: Any) -> None:
    """A loop of `grim_poll` with pauses, for phases in which the time does not count."""
    while not over():
        if not await library.poll():
            await lab.kernel.sleep(2_000_000, "the next poll")


def tally(lab: Lab, arrived: Iterable[tuple[Sequence[int], Sequence[int]]], of: str = "") -> None:
    """Hand in how many messages were delivered, lost, doubled and out of order; what is wrong of that fails the run.

    `arrived`: by endpoint and sender, the numbers that came, as they came, and those that had to, rising. `of`: what
    the names of the metrics end with.
    """
    pairs = [(list(got), set(due)) for got, due in arrived]
    wrong = {
        "lost": sum(len(due - set(got)) for got, due in pairs),
        "doubled": sum(len(got) - len(set(got)) for got, _ in pairs),
        "out_of_order": sum(a > b for got, _ in pairs for a, b in pairwise(got)),
        "unexpected": sum(len(set(got) - due) for got, due in pairs),
    }
    delivered = sum(len(got) for got, _ in pairs)
    lab.metric(f"delivered{of}", delivered)
    for name, count in wrong.items():
        if name != "unexpected":
            lab.metric(f"{name}{of}", count)
        lab.check(count == 0, f"{count} of {delivered} messages: {(name + of).replace('_', ' ')}")


@dataclass(frozen=True)
class Region:
    """Bytes in host memory, as `grim_send` takes them."""

    address: int
    size: int
    view: memoryview


class Source:
    """A buffer of known bytes in a host's memory, from which any length can be sent."""

    def __init__(self, host: Any, size: int, seed: int) -> None:
        self.buffer = host.allocate(max(size, 4) + 4)
        self.bytes = default_rng(seed).integers(0, 256, size, dtype=np.uint8).tobytes()
        self.buffer.view[:size] = self.bytes

    def region(self, size: int) -> Region | bytes:
        """The first `size` bytes."""
        return Region(self.buffer.address, size, self.buffer.view[:size]) if size else b""


class RoundTrips:
    """Two hosts that send one message back and forth; `name` tells their handlers from those of other pairs."""

    def __init__(self, lab: Lab, name: str, near: Any, far: Any, largest: int) -> None:
        self.lab, self.name, self.near, self.far = lab, name, near, far
        self.source = Source(near.host, largest, 1)
        """What the near host sends."""
        self._answer = Source(far.host, largest, 2)
        self._back = False
        self._stop = False

    def handlers(self) -> tuple[Handlers, Handlers]:
        """Those of both hosts, for `bring_up`."""
        return {f"pong_{self.name}": self._on_pong}, {f"ping_{self.name}": self._on_ping}

    async def one_way_us(self, size: int, repetitions: int) -> float:
        """Half of a round trip of a size, the mean."""
        self._stop = False
        near, far = self.near, self.far
        ping, self._pong = (
            await near.resolve_handler(f"ping_{self.name}"),
            await far.resolve_handler(f"pong_{self.name}"),
        )
        where, self._home = near.get_dest_id(far.get_my_vnn()), far.get_dest_id(near.get_my_vnn())
        serving = self.lab.spawn(far.wait_for(lambda: self._stop), f"far host of {self.name}")
        begun = self.lab.kernel.now
        for _ in range(repetitions):
            self._back = False
            await near.send(where, ping, size, payload=self.source.region(size))
            await near.wait_for(lambda: self._back)
        us = (self.lab.kernel.now - begun) / repetitions / 2 / 1e6
        self.lab.findings.messages += 2 * repetitions
        await near.send(where, ping, 0, 1)
        await self.lab.all([serving])
        return us

    async def _on_ping(self, source: int, size: int, last: int, a2: int, a3: int, payload: memoryview) -> None:
        if last:
            self._stop = True
            return
        self.lab.check(payload == self.source.bytes[:size], f"{size} bytes arrived changed")
        await self.far.send(self._home, self._pong, size, payload=self._answer.region(size))

    def _on_pong(self, source: int, size: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
        self.lab.check(payload == self._answer.bytes[:size], f"{size} bytes came back changed")
        self._back = True
