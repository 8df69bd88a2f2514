"""Shared parts of GRIM studies: start of the libraries, payloads in host memory, and pairs of hosts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.random import default_rng

from pymodels.kernel import Task
from tb.lab.lab import Lab
from tb.studies.kit.hosts import Options, in_pairs
from tb.studies.kit.rounds import Trips, round_trips

LAYER = "grim"
Handlers = Mapping[str, Any]
PLACE_BYTES, PLACES = 4, 16
"""Distance in bytes of the PLACES offsets in a buffer at which messages begin, by their numbers."""


def of_ends(libraries: Sequence[Any], near: Handlers, far: Handlers) -> list[Handlers]:
    """Return the handlers of all hosts, where only the first and the last host have any."""
    return [near, *({} for _ in libraries[2:]), far]


async def bring_up(lab: Lab, libraries: Sequence[Any], handlers: Sequence[Handlers]) -> None:
    """Enable GRIM on every host and publish `handlers` (by name, for each host), so that every host knows every
    handler.
    """
    await enable(lab, libraries, handlers)
    for _ in range(2):  # in the second round all hosts get the handlers that others published after their first
        await sync(lab, libraries)


async def enable(lab: Lab, libraries: Sequence[Any], handlers: Sequence[Handlers]) -> None:
    """Enable GRIM on every host, and register its handlers without publishing them."""
    for library, own in zip(libraries, handlers, strict=True):
        for name, function in own.items():
            library.register_handler(function, name)
    await lab.all([lab.spawn(library.load(), f"loader of {i}") for i, library in enumerate(libraries)])
    await lab.all([lab.spawn(library.grim_enable(), f"grim_enable of {i}") for i, library in enumerate(libraries)])


async def sync(lab: Lab, libraries: Sequence[Any]) -> None:
    """Synchronise the handlers of all hosts, while the first host serves."""
    syncs = [lab.spawn(library.sync_handlers(), f"sync_handlers of {i}") for i, library in enumerate(libraries)]
    await serve_until(lab, libraries[:1], lambda: all(task.finished.done for task in syncs), also=syncs)


async def serve_until(lab: Lab, libraries: Sequence[Any], over: Any, also: Sequence[Any] = ()) -> None:
    """Poll on some hosts until `over()` is true and the tasks `also` have finished."""
    stop = False

    def done() -> bool:
        return stop or bool(over())

    loops = [lab.spawn(_poll_until(lab, library, done), f"poll of {i}") for i, library in enumerate(libraries)]
    await lab.all(also)
    stop = True
    await lab.all(loops)


async def _poll_until(lab: Lab, library: Any, over: Any) -> None:
    """Call `grim_poll` with pauses, for phases whose duration does not matter."""
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
    """Buffer of known bytes in a host's memory, from which any length can be sent."""

    def __init__(self, host: Any, size: int, seed: int) -> None:
        self.buffer = host.allocate(max(size, 4) + 4)
        self.bytes = default_rng(seed).integers(0, 256, size, dtype=np.uint8).tobytes()
        self.buffer.view[:size] = self.bytes

    def region(self, size: int, number: int = 0) -> Region | bytes:
        """Return `size` bytes for the message with a number, which selects the offset."""
        at = PLACE_BYTES * (number % PLACES)
        return Region(self.buffer.address + at, size, self.buffer.view[at : at + size]) if size else b""

    def bytes_of(self, size: int, number: int) -> bytes:
        """Return the content of the region of a message."""
        at = PLACE_BYTES * (number % PLACES)
        return self.bytes[at : at + size]


class RoundTrips:
    """Two hosts that send one message back and forth; `name` distinguishes their handlers from those of other pairs."""

    def __init__(self, lab: Lab, name: str, near: Any, far: Any, largest: int) -> None:
        self.lab, self.name, self.near, self.far = lab, name, near, far
        self.source = Source(near.host, largest, 1)
        """Source of the near host's payloads."""
        self.came_at = 0
        """Start time of the handler of the near host's last message in ps."""
        self._answer = Source(far.host, largest, 2)
        self._back = False
        self._stop = False

    def named(self, handler: str) -> str:
        """Return the name of a handler of this pair."""
        return f"{handler}_{self.name}" if self.name else handler

    def handlers(self) -> tuple[Handlers, Handlers]:
        """Return the handlers of both hosts, for `bring_up`."""
        return {self.named("pong"): self._on_pong}, {self.named("ping"): self._on_ping}

    async def open(self) -> None:
        """Resolve the handlers, and let the far host poll."""
        self._stop = False
        near, far = self.near, self.far
        self._ping = await near.resolve_handler(self.named("ping"))
        self._pong = await far.resolve_handler(self.named("pong"))
        self._there, self._home = near.get_dest_id(far.get_my_vnn()), far.get_dest_id(near.get_my_vnn())
        self._serving = self.lab.spawn(far.wait_for(lambda: self._stop), f"far host of {self.name}")

    async def trips(self, size: int, repetitions: int) -> Trips:
        """Make round trips of a size, while the pair is open."""

        async def ask(number: int) -> None:
            self._back = False
            await self.near.send(self._there, self._ping, size, payload=self.source.region(size))
            await self.near.wait_for(lambda: self._back)

        return await round_trips(self.lab, repetitions, ask)

    async def close(self) -> None:
        """Let the far host stop polling."""
        await self.near.send(self._there, self._ping, 0, 1)
        await self.lab.all([self._serving])

    async def one_way_us(self, size: int, repetitions: int) -> float:
        """Return half of the mean round trip of a size in us."""
        await self.open()
        us = (await self.trips(size, repetitions)).mean_one_way_us
        await self.close()
        return us

    async def _on_ping(self, source: int, size: int, last: int, a2: int, a3: int, payload: memoryview) -> None:
        if last:
            self._stop = True
            return
        self.came_at = self.lab.kernel.now
        self.lab.check("bytes of pings", payload == self.source.bytes[:size], f"{size} bytes arrived corrupted")
        await self.far.send(self._home, self._pong, size, payload=self._answer.region(size))

    def _on_pong(self, source: int, size: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
        self.lab.check("bytes of replies", payload == self._answer.bytes[:size], f"{size} bytes returned corrupted")
        self._back = True


class OneWay(RoundTrips):
    """Two hosts that also send one-way messages, whose numbers are kept."""

    def __init__(self, lab: Lab, name: str, near: Any, far: Any, largest: int) -> None:
        super().__init__(lab, name, near, far, largest)
        self.numbers: list[int] = []
        """First argument of each message, in the order in which they were handled."""

    def handlers(self) -> tuple[Handlers, Handlers]:
        """Return the handlers of both hosts, for `bring_up`."""
        near, far = super().handlers()
        return near, {**far, self.named("data"): self.on_data}

    def on_data(self, source: int, number: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
        """Handle a one-way message."""
        self.numbers.append(number)

    async def to_far(self) -> tuple[int, int]:
        """Return the number of that handler and the reference of the far host."""
        return await self.near.resolve_handler(self.named("data")), self.near.get_dest_id(self.far.get_my_vnn())

    def reading(self, over: Callable[[], bool]) -> Task:
        """Let the far host poll until `over()` is true."""
        return self.lab.spawn(self.far.wait_for(over), f"far host of {self.name}")


class HasHandlers(Protocol):
    """Two hosts with handlers."""

    def handlers(self) -> tuple[Handlers, Handlers]:
        """Return the handlers of both hosts, for `bring_up`."""


Made = TypeVar("Made", bound=HasHandlers)


async def start_pairs(
    lab: Lab, choices: Sequence[Options], make: Callable[[int, Any, Any], Made], common: Options | None = None
) -> list[Made]:
    """Start GRIM with other options on each pair of neighbouring hosts, so that one run compares the options.

    Args:
        lab: The study's lab.
        choices: Options of each pair, in the order of the hosts; further hosts have no pair.
        make: Creates a pair from its index in `choices` and the libraries of its two hosts.
        common: Options of all hosts.
    """
    libraries = lab.start_layer(LAYER, common, in_pairs(choices))
    pairs = [make(place, libraries[2 * place], libraries[2 * place + 1]) for place in range(len(choices))]
    handlers = [own for pair in pairs for own in pair.handlers()]
    await bring_up(lab, libraries, [*handlers, *({} for _ in libraries[len(handlers) :])])
    return pairs
