"""Does a message layer keep its promises on the RTL, whatever a program of its fuzz does?

Strategy: every program runs in a copy of this process, forked when the cluster has booted, so each begins with the same
fresh cluster, and none sees another. A program of fewer nodes uses the first ones of the cluster.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from typing import NoReturn

from firmware.layers import ClusterView
from pymodels.kernel import Kernel
from tb.fuzz import trial
from tb.fuzz.program import Program, Value
from tb.fuzz.shrink import SMALL, shrink_awaiting, sort_of
from tb.lab.lab import Lab
from tb.plan.options import Option

CLUSTER = "eight_hosts"
LINE, LINES = 1000, 50
"""Characters of a failure, and failures of a program, that are told."""
OPTIONS = {
    "layer": Option(trial.names()[0], "whose fuzz", choices=tuple(trial.names())),
    "first": Option(0, "the first seed"),
    "count": Option(10, "so many seeds", 1, 1_000_000),
    "shrink": Option(0, "seconds to make the program of each seed that fails smaller", 0, 1000),
}


class RtlWorld:
    """As many hosts of the simulated cluster as a program has."""

    def __init__(self, lab: Lab, name: str, program: Program) -> None:
        self._lab, self._nodes = lab, program.nodes
        lab.running.use_layer(name)
        self.hosts = lab.running.hosts[: program.nodes]
        self.nics = lab.running.nics[: program.nodes]

    @property
    def kernel(self) -> Kernel:
        """See `World`."""
        return self._lab.kernel

    def view(self, node: int, options: Mapping[str, Value]) -> ClusterView:
        """See `World`."""
        view = self._lab.view(node, dict(options))
        routes = {vnn: route for vnn, route in view.routes.items() if vnn < self._nodes}
        names, cards = view.names[: self._nodes], view.cards[: self._nodes]
        return replace(view, names=names, routes=routes, cards=cards, config="")  # the file has more hosts

    def executing(self, layer: str, node: int, view: ClusterView) -> ClusterView | None:
        """See `World`: whether a NIC of the RTL has a core is said when the cluster is built."""
        return None

    def disturb(self, faults: Mapping[str, int]) -> None:
        """See `World`: the RTL doubles no packets."""
        loss, damage, reorder = (faults.get(name, 0) / 1000 for name in ("loss", "damage", "reorder"))
        if loss or damage or reorder:
            self._lab.running.invariants.faults_expected = True
        self._lab.running.lose(loss, damage, faults.get("seed", 0), reorder)

    def stood_still(self) -> None:
        """See `World`: their long time-out cuts them."""
        self._lab.running.invariants.explain_link_faults()

    async def reset(self, node: int) -> None:
        """See `World`."""
        await self._lab.running.hold(node)

    def insert(self, node: int, packet: bytes) -> None:
        """See `World`: the RTL's wires carry packets of NICs only."""

    def stand_still(self, node: int, ps: int) -> None:
        """See `World`: the RTL's hosts cannot."""

    def in_flight(self) -> int:
        """See `World`: `drain` looks at the end."""
        return 0


async def run(lab: Lab) -> None:
    """The study: as many programs as there are seeds."""
    name, first, count = lab.text("layer"), lab.option("first"), lab.option("count")
    for seed in range(first, first + count):
        program, numbers = trial.drawn(name, seed)
        found = await _apart(lab, name, program)
        if found and lab.option("shrink"):
            small = await _smaller(lab, name, numbers, sort_of(found[0]))
            found += [f"{SMALL}{line}" for line in str(small or program).splitlines()]
        for line in found:
            lab.check(False, f"seed {seed}: {line}")
        lab.progress(seed - first + 1, count, "programs")
    lab.metric("programs", count)


async def _smaller(lab: Lab, name: str, numbers: list[int], sort: str) -> Program | None:
    """The smallest program found that fails in the same way; each that is tried has a copy of its own."""

    async def fails(program: Program) -> bool:
        found = await _apart(lab, name, program)
        return bool(found) and sort_of(found[0]) == sort

    return await shrink_awaiting(trial.layer(name).program, numbers, fails, lab.option("shrink"))


async def _apart(lab: Lab, name: str, program: Program) -> list[str]:
    """Run a program in a copy of this process; what was wrong."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.close(read)

        def end(found: list[str]) -> NoReturn:
            os.write(write, json.dumps(found).encode())
            os._exit(0)

        # what the copy raises outside of this task ends it too, and nothing of it is left behind
        lab.running.engine.on_failure = lambda error: end([trial.told(error)])
        end(await _whole(lab, name, program))
    os.close(write)
    with os.fdopen(read) as answer:
        text = answer.read()
    os.waitpid(child, 0)
    found: list[str] = json.loads(text) if text else ["the simulation died"]
    return found


async def _whole(lab: Lab, name: str, program: Program) -> list[str]:
    found: list[str] = await trial.layer(name).run(program, RtlWorld(lab, name, program))
    await lab.running.drain()
    return [line[:LINE] for line in [*found, *lab.running.broken_invariants()]][:LINES]
