"""A GRIM cluster on the machine, for unit tests."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from firmware.common.host import card
from firmware.executing import executing
from firmware.grim import nic as nic_grim
from firmware.grim.host import Grim, enable
from firmware.grim.nic.layout import Counter
from firmware.view import ClusterView
from pymodels.machine import Machine
from pymodels.machine.timing import Timing

US = 1_000_000
"""Picoseconds in a microsecond."""
Application = Callable[[Grim, int], Awaitable[Any]]


class Bench:
    """Hosts with open libraries, on NICs that run the firmware, before `grim_enable`. Keywords are options of GRIM."""

    nic = "lanai9"
    """Kind of all NICs."""
    sram_bytes = 0
    """SRAM of each NIC in bytes; 0 for the size of its kind."""
    in_c = ""
    """Letter for each node: `c` for a NIC that executes the C firmware."""
    timing: Timing | None = None
    """Delays of the machine; None for its defaults."""

    def __init__(
        self, nodes: int = 2, seed: int = 1, trace: bool = False, start_nics: bool = True, **options: int | str
    ) -> None:
        """`nodes` hosts on one switch. `start_nics`: run the firmware from the beginning; otherwise call
        `start_nic`.
        """
        self.machine = Machine(
            nodes=nodes, seed=seed, trace=trace, nic=self.nic, timing=self.timing, sram_bytes=self.sram_bytes
        )
        self.nodes = nodes
        self.views = [ClusterView(**self.machine.view(node, **options)) for node in range(nodes)]
        for node in (at for at, letter in enumerate(self.in_c) if letter == "c"):
            self.views[node] = executing("grim", self.machine.nic(node), self.views[node])
        self.libraries: list[Grim] = [Grim(self.machine.host(node), self.views[node]) for node in range(nodes)]
        if start_nics:
            for node in range(nodes):
                self.start_nic(node)

    def start_nic(self, node: int) -> None:
        """Start the firmware of a NIC."""
        nic = self.machine.nic(node)
        if self.views[node].machine_code is None:
            nic.spawn(nic_grim.main(nic, self.views[node]), "firmware")

    def run(self, application: Application, within_us: float = 1e6) -> list[Any]:
        """Enable all nodes, then run `application(library, node)` on each; return the results by node."""

        async def node(index: int) -> Any:
            library = self.libraries[index]
            await library.grim_enable()
            return await application(library, index)

        return self.machine.finish(*(node(index) for index in range(self.nodes)), within_us=within_us)

    async def publish(self, library: Grim, **functions: Callable[..., Any]) -> dict[str, int]:
        """Register handlers, synchronise nodes, return the numbers. Node 0 continues once it has served the others."""
        for name, function in functions.items():
            library.register_handler(function, name)
        await library.sync_handlers()
        if library.get_my_vnn() == 0:
            await library.wait_for(lambda: library.nodes_served == self.nodes - 1)
        return {name: await library.resolve_handler(name) for name in functions}

    def count(self, node: int, counter: Counter) -> int:
        """Return a counter of a NIC's firmware."""
        return self.machine.nic(node).load(self.libraries[node].layout.counter(counter))

    def total(self, counter: Counter) -> int:
        """Return the sum of a counter over all nodes."""
        return sum(self.count(node, counter) for node in range(self.nodes))

    def settle(self, us: float = 1000.0) -> None:
        """Run until all packets in flight have arrived."""
        self.machine.run(self.machine.kernel.now / 1e6 + us)

    def nothing_left(self) -> bool:
        """Return True if every queue of the cluster is empty."""
        for node, library in enumerate(self.libraries):
            nic, layout = self.machine.nic(node), library.layout
            for channel in range(library.options.channels):
                front, back = nic.load_words(layout.channels + 32 * channel, 2)
                if front != back:
                    return False
        return self.machine.network.in_flight() == 0


async def restart_nic(
    bench: Bench, node: int, down_us: int = 100, drain: Callable[[Grim], Awaitable[None]] | None = None
) -> Grim:
    """Reset and restart a NIC after some time; return its new library. `drain`: receive with the old library first."""
    old = bench.libraries[node]
    await card.hold(old.host)
    if drain is not None:
        await drain(old)
    await old.host.sleep(down_us * US)
    await enable.clear(old.host, old.layout)
    bench.start_nic(node)
    library = bench.libraries[node] = Grim(old.host, bench.views[node])
    await library.grim_enable()
    return library
