"""What GRIM studies share: bringing the libraries up, and payloads in host memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import default_rng

from tb.lab import Lab

Handlers = Mapping[str, Any]


async def bring_up(lab: Lab, libraries: Sequence[Any], handlers: Sequence[Handlers]) -> None:
    """Enable GRIM on every host and publish `handlers` (by name, per host), so that every host knows every handler."""
    for library, own in zip(libraries, handlers, strict=True):
        for name, function in own.items():
            library.register_handler(function, name)
    await lab.all([lab.spawn(library.grim_enable(), f"grim_enable of {i}") for i, library in enumerate(libraries)])
    for _ in range(2):  # the second round tells everyone what others published after their first
        await _sync(lab, libraries)


async def _sync(lab: Lab, libraries: Sequence[Any]) -> None:
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
