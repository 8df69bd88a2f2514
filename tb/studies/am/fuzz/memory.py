"""AM process that does PUTs and GETs, and the expected contents of its memory.

A process has constant bytes, and two slices for each other node: one for that node's PUTs and one for GETs from it.
Operations between two nodes are in order. So each slice must equal the result of the calls made one after the other.
Each flag must equal the number of calls with a flag.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Any

from firmware.am.nic.layout import MOST
from tb.fuzz.program import Act
from tb.fuzz.request_reply import Process

OFFSETS = (0, 4, 64, 1000, MOST)
STRETCHES = (0, 4, 33, 1000, MOST, MOST + 1, 2 * MOST + 500)
SLICE = 4 * MOST


@dataclass
class Area:
    """Slices of a process's memory, one with a flag for each node."""

    host: Any
    nodes: int
    image: bytearray = field(init=False)
    """Expected bytes."""
    counts: list[int] = field(init=False)
    """Expected values of the flags."""

    def __post_init__(self) -> None:
        self.image, self.counts = bytearray(SLICE * self.nodes), [0] * self.nodes
        self.at = self.host.allocate(len(self.image)).address
        self.flags = self.host.allocate(4 * self.nodes).address

    def expect(self, node: int, at: int, data: bytes, flag: int) -> tuple[int, int]:
        """Record bytes expected in a slice. Return the address of their destination and of their flag."""
        self.image[SLICE * node + at : SLICE * node + at + len(data)] = data
        self.counts[node] += flag
        return self.at + SLICE * node + at, flag and self.flags + 4 * node

    def wrong(self) -> list[str]:
        """Return descriptions of differences from the expected memory."""
        now = self.host.load_bytes(self.at, len(self.image))
        differ = [at for at in range(len(now)) if now[at] != self.image[at]] if now != self.image else []
        counts = list(self.host.load_words(self.flags, self.nodes))
        told = [f"flags {counts}, not {self.counts}"] if counts != self.counts else []
        if differ:
            where = f"first in the slice of node {differ[0] // SLICE} at {differ[0] % SLICE}"
            told.append(f"{len(differ)} bytes differ, {where}")
        return told


@dataclass
class Remote(Process):
    """AM process."""

    async def open(self) -> None:
        """Open the port and allocate the memory."""
        cluster, layer = self.cluster, self.cluster.layers[self.node]
        layer.port = self.port = layer.open([self.take, self.answer, self.answered])
        self.host = layer.host
        self.written, self.landed = (Area(self.host, len(cluster.layers)) for _ in range(2))
        self.fixed = Random(self.node).randbytes(SLICE)
        self.source = self.host.allocate(SLICE).address
        self.host.store_bytes(self.source, self.fixed)

    async def compute(self, act: Act) -> None:
        """Compute on the CPU (see `Process`)."""
        await self.port.compute(1000 * act.whole("us"))

    async def finish(self) -> None:
        """Wake the hosts that poll their memory when the last message is another host's (see `Process`)."""
        await super().finish()
        for process in self.cluster.processes:
            process.port.changed()

    async def close(self) -> None:
        """Do nothing: AM stays open."""

    def changed(self) -> list[str]:
        """Return descriptions of differences from the expected memory (see `Process`)."""
        return [f"{self}: {name}: {line}" for name in ("written", "landed") for line in getattr(self, name).wrong()]

    async def put(self, act: Act) -> None:
        """Put constant bytes of this node into its slice at another node."""
        far, at = self._far(act), act.whole("at")
        data = self.fixed[at : at + act.whole("bytes")]
        to, flag = far.written.expect(self.node, act.whole("to_at"), data, act.whole("flag"))
        await self.port.put(far.node, to, self.source + at, len(data), flag)

    async def get(self, act: Act) -> None:
        """Get constant bytes of another node."""
        far, at = self._far(act), act.whole("at")
        data = far.fixed[at : at + act.whole("bytes")]
        to, flag = self.landed.expect(far.node, act.whole("to_at"), data, act.whole("flag"))
        await self.port.get(far.node, far.source + at, to, len(data), flag)

    async def get_back(self, act: Act) -> None:
        """Get bytes that this node has put, after the PUTs have finished, and wait for them."""
        await self.port.until(lambda: not self.port.unanswered, "the end of its PUTs")
        far, at = self._far(act), SLICE * self.node + act.whole("at")
        data = bytes(far.written.image[at : at + act.whole("bytes")])
        to, flag = self.landed.expect(far.node, act.whole("to_at"), data, 1)
        await self.port.get(far.node, far.written.at + at, to, len(data), flag)
        await self.port.flag(flag, self.landed.counts[far.node])

    def misuses(self) -> dict[str, Callable[[], Awaitable[Any]]]:
        """Return the invalid calls by name (see `Process`)."""
        other, put, get = (self.node + 1) % len(self.cluster.layers), self.port.put, self.port.get
        return {
            **super().misuses(),
            "key": self._open_again,
            "put to nobody": partial(put, len(self.cluster.layers), self.written.at, self.source, 4, 0),
            "put of less than nothing": partial(put, other, self.written.at, self.source, -1, 0),
            "get from an odd place": partial(get, other, self.source + 1, self.landed.at, 4, 0),
            "an odd flag": partial(get, other, self.source, self.landed.at, 4, 2),
        }

    async def _open_again(self) -> None:
        self.cluster.layers[self.node].open([self.take])

    def _far(self, act: Act) -> Remote:
        far = self.cluster.processes[act.whole("to")]
        assert isinstance(far, Remote)
        return far
