"""Does a message layer keep its guarantees on the RTL for random programs?

Strategy: every program runs in a fork of this process at the state after booting. So each begins with the same cluster,
and none affects another. A program with fewer nodes uses the first ones of the cluster.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from firmware.images import image, layers
from firmware.layers import composition, names
from firmware.view import ClusterView
from pymodels import generated
from pymodels.kernel import Kernel
from tb.fuzz import trial
from tb.fuzz.descriptor import Make
from tb.fuzz.program import Program, Value, with_pauses
from tb.fuzz.reach import ARCS, Arcs, Watch, firmware, together
from tb.fuzz.shrink import SMALL, shrink_awaiting, sort_of
from tb.fuzz.world import late_port
from tb.lab.apart import apart
from tb.lab.faults import Injector
from tb.lab.lab import Lab
from tb.plan.faults import Fault
from tb.plan.options import Option
from tb.plan.request import Plan

CLUSTER = "eight_hosts"
"""Cluster of all programs. Idle hosts cost nothing, so that a program of two hosts runs as fast as on two hosts."""
LINE, LINES = 1000, 50
"""Maximum characters of a reported failure, and maximum number of failures of a program."""
OPTIONS = {
    "layer": Option(trial.names(place="rtl")[0], "layer whose fuzz test runs", choices=tuple(trial.names(place="rtl"))),
    "first": Option(0, "first seed"),
    "count": Option(10, "number of seeds", 1, 1_000_000),
    "covered": Option(0, "1 = record the executed lines of the layer's firmware", 0, 1),
    "in_c": Option(0, "1 = NICs of each program execute the layer's firmware in C", 0, 1),
    "pauses_us": Option(0, "maximum pause before each act of a program, drawn by seed", 0, 1000),
    "shrink": Option(0, "seconds for shrinking the program of each failing seed", 0, 1000),
}


class RtlWorld:
    """First hosts of the simulated cluster, as many as a program has."""

    def __init__(self, lab: Lab, name: str, program: Program) -> None:
        self._lab, self._nodes = lab, program.nodes
        stack = trial.stack(name)
        composed = {one: composition(one, program.options) for one in stack if one in names()}
        lab.running.use_layer(*stack, composed=composed)
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
        others = {vnn: ways for vnn, ways in view.other_routes.items() if vnn < self._nodes}
        names, cards = view.names[: self._nodes], view.cards[: self._nodes]
        return replace(
            view, names=names, routes=routes, other_routes=others, cards=cards, config=""
        )  # the configuration file has more hosts

    def executing(self, layer: str, node: int, view: ClusterView) -> ClusterView:
        """See `World`."""
        return self._lab.executed_view(layer, view)

    def disturb(self, faults: Mapping[str, int]) -> None:
        """See `World`: the RTL does not duplicate packets."""
        loss, damage, reorder = (faults.get(name, 0) / 1000 for name in ("loss", "damage", "reorder"))
        if loss or damage or reorder:
            self._lab.running.invariants.faults_expected = True
        self._lab.running.lose(loss, damage, faults.get("seed", 0), reorder)

    def delay(self, chip: int, us: int) -> None:
        """See `World`."""
        self._lab.running.delay(late_port(chip), us)

    def stood_still(self) -> None:
        """See `World`: the long time-out of links cuts packets."""
        self._lab.running.invariants.explain_link_faults()

    async def reset(self, node: int) -> None:
        """See `World`."""
        await self._lab.running.hold(node)

    def insert(self, node: int, packet: bytes) -> None:
        """See `World`: not supported, since the RTL's wires carry packets of NICs only."""

    def stand_still(self, node: int, ps: int) -> None:
        """See `World`: not supported on the RTL."""

    def cut_power(self, node: int, card: str, at_ps: int, for_ps: int) -> None:
        """See `World`."""
        host = self._lab.plan.cluster.hosts[node]
        fault = Fault("power", host.name, at_ps, host.slot(card), 0, for_ps)
        Injector(self._lab.running).inject([fault])

    def card_processor(self, node: int) -> Any:
        """See `World`."""
        return self._lab.running.io_cards[node]

    def card_memory(self, node: int) -> Any:
        """See `World`."""
        return self._lab.running.banks[node]

    def in_flight(self) -> int:
        """See `World`: 0, since `drain` checks the end."""
        return 0


def cores(plan: Plan) -> bool:
    """Return True if programs may have NICs that execute firmware in C."""
    layer = str(plan.options["layer"])
    return layer in layers() and generated.found(image(layer, plan.profile.kind)) is not None


async def run(lab: Lab) -> None:
    """Run the programs of all seeds."""
    name, first, count = lab.text("layer"), lab.option("first"), lab.option("count")
    make = trial.maker(name, bool(lab.option("in_c")))
    reached: list[Arcs] = []
    for seed in range(first, first + count):
        program, numbers = trial.drawn(name, seed, make)
        program = with_pauses(program, lab.option("pauses_us"), seed)
        found = await _apart(lab, name, program, reached)
        if found and lab.option("shrink"):
            small = await _smaller(lab, name, make, numbers, sort_of(found[0]), seed)
            found += [f"{SMALL}{line}" for line in str(small or program).splitlines()]
        for line in found or [""]:
            lab.check(f"seed {seed}", not found, line)
        lab.progress(seed - first + 1, count, "programs")
    if lab.option("covered"):
        (Path(lab.plan.request.folder) / ARCS).write_text(json.dumps(together(reached)), encoding="utf-8")
    lab.metric("programs", count)


async def _smaller(lab: Lab, name: str, make: Make, numbers: list[int], sort: str, seed: int) -> Program | None:
    """Return the smallest program found with the same failure; each attempt runs in its own fork."""

    async def fails(program: Program) -> bool:
        found = await _apart(lab, name, with_pauses(program, lab.option("pauses_us"), seed), [])
        return bool(found) and sort_of(found[0]) == sort

    return await shrink_awaiting(make, numbers, fails, lab.option("shrink"))


async def _apart(lab: Lab, name: str, program: Program, reached: list[Arcs]) -> list[str]:
    """Run a program in a fork of this process, return its failures, and append its coverage to `reached`."""
    watch = Watch(firmware(name))

    def with_arcs(found: list[str]) -> tuple[list[str], Arcs]:
        return found, watch.arcs() if lab.option("covered") else {}

    async def work() -> tuple[list[str], Arcs]:
        with watch if lab.option("covered") else nullcontext():
            found = await _whole(lab, name, program)
        return with_arcs(found)

    answer = await apart(lab, work, lambda error: with_arcs([trial.error_text(error)]))
    if answer is None:
        return ["the simulation died"]
    failures, arcs = answer
    reached.append(arcs)
    return list(failures)


async def _whole(lab: Lab, name: str, program: Program) -> list[str]:
    begun = lab.kernel.now
    found: list[str] = await trial.layer(name).run(program, RtlWorld(lab, name, program))
    if lab.kernel.now > begun:  # else its options were rejected
        idle = [node for node, core in lab.running.cores.items() if not core.counts.any()]
        found += [f"node {node} has executed nothing" for node in idle]
    await lab.running.drain()
    return [line[:LINE] for line in [*found, *lab.running.broken_invariants()]][:LINES]
