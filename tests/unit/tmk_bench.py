"""TreadMarks on the machine: a process of the parallel program on each host, over UDP."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from firmware.host.tmk import Tmk, TreadMarks
from firmware.host.udp import Udp
from firmware.layers import ClusterView, nic_program
from pymodels.host import Sig
from pymodels.machine import Machine

Program = Callable[[Tmk], Awaitable[Any]]


class Bench:
    """Started processes. Keywords are options of TreadMarks."""

    def __init__(self, nodes: int = 2, *, seed: int = 1, pages: int = 16, **options: Any) -> None:
        self.machine = Machine(nodes, seed=seed)
        self.udps: list[Udp] = []
        self.layers: list[TreadMarks] = []
        for node, host in enumerate(self.machine.hosts):
            view = ClusterView(**self.machine.view(node))
            self.machine.nic(node).spawn(nic_program("udp")(self.machine.nic(node), view), "udp")
            self.udps.append(Udp(host, view))
            mine = ClusterView(**self.machine.view(node, pages=pages, **options))
            self.layers.append(TreadMarks(host, mine, self.udps[node]))
        self.run(*(layer.start() for layer in self.layers))
        self.all: list[Tmk] = [layer.open() for layer in self.layers]
        self.run(*(tmk.startup() for tmk in self.all))

    def run(self, *calls: Awaitable[Any], within_us: float = 1e7) -> list[Any]:
        """Do all of it at the same time."""
        return self.machine.finish(*(_of(call) for call in calls), within_us=within_us)

    def do(self, tmk: Tmk, *calls: Awaitable[Any]) -> list[Any]:
        """Let one process do these, one after the other, while the others sleep and serve."""
        over = [False]

        async def act() -> list[Any]:
            results = [await call for call in calls]
            over[0] = True
            for other in self.all:
                if other is not tmk:
                    self.machine.host(other.proc_id).signal(other.process.number, Sig.IO)
            return results

        async def sleep(other: Tmk) -> None:
            await other.process.set_mask([Sig.IO])  # only asleep, so that none is missed
            while not over[0]:
                await other.process.suspend()
            await other.process.set_mask([])

        results: list[Any] = self.run(act(), *(sleep(other) for other in self.all if other is not tmk))[0]
        return results

    def program(self, program: Program, within_us: float = 1e7) -> list[Any]:
        """Run a program in every process."""
        return self.run(*(program(tmk) for tmk in self.all), within_us=within_us)


async def _of(call: Awaitable[Any]) -> Any:
    return await call
