"""Bench for TreadMarks on the pure-Python machine: a process of the program on each host, over UDP or VIA."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from firmware.layers import host_library, nic_program
from firmware.tmk.host import Tmk, TreadMarks
from firmware.view import ClusterView
from pymodels.kernel import close_unstarted
from pymodels.machine import Machine

Call = Coroutine[Any, Any, Any]
Program = Callable[[Tmk], Call]


class Bench:
    """Started processes. Keywords are options of TreadMarks; `below` holds those of the substrate."""

    def __init__(
        self,
        nodes: int = 2,
        *,
        seed: int = 1,
        pages: int = 16,
        on: str = "udp",
        below: dict[str, int | str] | None = None,
        trace: bool = True,
        **options: Any,
    ) -> None:
        self.machine = Machine(nodes, seed=seed, trace=trace)
        self.below: list[Any] = []
        """UDP or VIA of each host."""
        self.layers: list[TreadMarks] = []
        for node, host in enumerate(self.machine.hosts):
            view = ClusterView(**self.machine.view(node, **(below or {})))
            self.machine.nic(node).spawn(nic_program(on)(self.machine.nic(node), view), on)
            self.below.append(host_library(on)(host, view))
            mine = ClusterView(**self.machine.view(node, pages=pages, **options))
            self.layers.append(TreadMarks(host, mine, self.below[node]))
        self.run(*(layer.start() for layer in self.layers))
        self.all: list[Tmk] = [layer.open() for layer in self.layers if layer.takes_part]
        self.run(*(tmk.startup() for tmk in self.all))

    def run(self, *calls: Call, within_us: float = 1e7) -> list[Any]:
        """Run calls concurrently and return their results."""
        return self.machine.finish(*calls, within_us=within_us)

    def do(self, tmk: Tmk, *calls: Call) -> list[Any]:
        """Run calls of one process in order, while the others sleep and serve Requests."""
        over, tells = [False], tmk._substrate.tells

        async def act() -> list[Any]:
            results = [await call for call in calls]
            over[0] = True
            for other in self.all:
                if other is not tmk:
                    for sig in tells:
                        self.machine.host(other.proc_id).signal(other.process.number, sig)
            return results

        async def sleep(other: Tmk) -> None:
            await other.process.set_mask(tells)  # only asleep, so that none is missed
            while not over[0]:
                await other.process.suspend()
            await other.process.set_mask([])

        try:
            results: list[Any] = self.run(act(), *(sleep(other) for other in self.all if other is not tmk))[0]
        finally:
            close_unstarted(*calls)
        return results

    def program(self, program: Program, within_us: float = 1e7) -> list[Any]:
        """Run a program in every process."""
        return self.run(*(program(tmk) for tmk in self.all), within_us=within_us)
