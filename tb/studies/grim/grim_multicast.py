"""How much earlier do all hosts have a message when the NIs replicate it than when the sender sends it to each?

Strategy: host 0 sends one message to 1, 3, 7, 15 others, while all receivers poll. It uses first the multicast tree
that it owns, then a loop of `send`. Measured are the time from the first call to the last handler, and the time that
the sender's host spends in the calls. The tree grows by subscriptions between the measurements.
"""

from __future__ import annotations

import statistics
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from firmware.grim.nic.layout import Counter
from tb.lab.lab import Lab
from tb.plan.options import Option, layer_options
from tb.studies.grim._grim import Source, bring_up
from tb.studies.kit.arrivals import tally

LAYER = "grim"
NEEDS = ("multicast",)
CLUSTER = "clos16"
OPTIONS = {
    "repetitions": Option(1, "messages of each kind, size and number of hosts", 1, 10_000),
    "hosts": Option(16, "maximum number of hosts, including the sender", 2, 128),
    "size": Option(1024, "bytes of the longer message; the shorter one has none", 4, 65536, unit="bytes"),
    **layer_options(LAYER),
}


async def run(lab: Lab) -> None:
    """Run the study."""
    group = _Group(lab, lab.start_layer(LAYER))
    await group.enable()
    most = min(lab.option("hosts"), len(group.libraries))
    counts = [count for count in (2, 4, 8, 16, 32, 64, 128) if count <= most]
    sizes = (0, lab.option("size"))
    curves: dict[str, list[float]] = {}
    for done, count in enumerate(counts):
        await group.grow(count)
        for size in sizes:
            for way, send in (("tree", group.by_tree), ("loop", group.by_loop)):
                last, calls = await group.measure(send, size)
                lab.metric(f"{way}_us_{count}_hosts_{size}B", last)
                lab.metric(f"{way}_host_us_{count}_hosts_{size}B", calls)
                curves.setdefault(f"{way}_{size}B", []).append(last)
        lab.progress(done + 1, len(counts), "numbers of hosts")
    for name, values in curves.items():
        lab.series(name, counts, values, "hosts", "us")
    await group.close(counts[-1], sizes)


class _Group:
    """Host 0, which sends, and the others, which poll."""

    def __init__(self, lab: Lab, libraries: list[Any]) -> None:
        self.lab, self.libraries = lab, libraries
        self.root = libraries[0]
        self.members = 1
        self.arrived: list[int] = []
        """Start time in ps of each receiver's handler for the current message."""
        self.numbers: list[tuple[list[int], list[int]]] = [([], []) for _ in libraries]
        """Received and expected message numbers, by VNN."""
        self._number = 0
        self._stopped: set[int] = set()
        self.source = Source(self.root.host, lab.option("size"), 1)
        self.tree = 0
        self._tasks: list[Any] = []

    async def enable(self) -> None:
        """Start all libraries; host 0 owns the tree."""
        handlers = {"stop": self._on_stop, "joined": self._on_joined}
        own = [{"data": partial(self._on_data, vnn), **handlers} for vnn in range(len(self.libraries))]
        await bring_up(self.lab, self.libraries, own)
        self.data = await self.root.resolve_handler("data")
        self.tree = await self.root.find_multicast_tree("all")

    def _on_data(self, vnn: int, source: int, size: int, number: int, a2: int, a3: int, payload: memoryview) -> None:
        self.lab.check("received bytes", payload == self.source.bytes[:size], f"{size} bytes arrived corrupted")
        self.arrived.append(self.lab.kernel.now)
        self.numbers[vnn][0].append(number)

    def _on_stop(self, source: int, vnn: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
        self._stopped.add(vnn)

    def _on_joined(self, source: int, a0: int, a1: int, a2: int, a3: int, payload: memoryview) -> None:
        """Wake host 0 to check the number of members again."""

    async def grow(self, count: int) -> None:
        """Subscribe hosts until the tree has `count` members, including the sender."""
        for vnn in range(self.members, count):
            joining = self.lab.spawn(self._join(self.libraries[vnn]), f"host {vnn}")
            self._tasks.append(joining)
            await self.root.wait_for(lambda vnn=vnn: self.members > vnn)

    async def _join(self, library: Any) -> None:
        """Subscribe a receiver, notify host 0, and poll until the end."""
        await library.subscribe_multicast_by_name("all", 1)
        self.members += 1
        await library.send(library.get_dest_id(0), await library.resolve_handler("joined"))
        me = library.get_my_vnn()
        await library.wait_for(lambda: me in self._stopped)

    async def measure(self, send: Callable[[int], Awaitable[None]], size: int) -> tuple[float, float]:
        """Return the median times in us until the last handler, and in the sender's calls."""
        last, calls = [], []
        for _ in range(self.lab.option("repetitions")):
            self.arrived.clear()
            self._number += 1
            for _, due in self.numbers[1 : self.members]:
                due.append(self._number)
            begun = self.lab.kernel.now
            await send(size)
            calls.append(self.lab.kernel.now - begun)
            while len(self.arrived) < self.members - 1:
                await self.lab.kernel.sleep(1_000_000, "the last handler")
            last.append(max(self.arrived) - begun)
            self.lab.findings.messages += self.members - 1
            await self.lab.kernel.sleep(20_000_000, "the last answers")
        return statistics.median(last) / 1e6, statistics.median(calls) / 1e6

    async def by_tree(self, size: int) -> None:
        """Send by one call; the NIs replicate the message."""
        await self.root.send_mc(self.tree, self.data, size, self._number, payload=self.source.region(size))

    async def by_loop(self, size: int) -> None:
        """Send by one call for each receiver."""
        for vnn in range(1, self.members):
            payload = self.source.region(size)
            await self.root.send(self.root.get_dest_id(vnn), self.data, size, self._number, payload=payload)

    async def close(self, hosts: int, sizes: tuple[int, ...]) -> None:
        """Let the receivers end, and record the number of copies."""
        counts = [await library.ni_counter(Counter.COPIES) for library in self.libraries]
        self.lab.metric("copies", sum(counts))
        tally(self.lab, self.numbers)
        for vnn in range(1, self.members):
            await self.root.send(self.root.get_dest_id(vnn), await self.root.resolve_handler("stop"), vnn)
        await self.lab.all(self._tasks)
