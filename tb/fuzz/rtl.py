"""Does a message layer keep its promises on the RTL, whatever a program of its fuzz does?

Strategy: every program runs in a copy of this process, forked when the cluster has booted, so each begins with the same
fresh cluster, and none sees another. A program of fewer nodes uses the first ones of the cluster.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from firmware.layers import ClusterView
from pymodels.kernel import Kernel
from tb.fuzz import trial
from tb.fuzz.program import Program, Value
from tb.lab import Lab
from tb.studies import Option

CLUSTER = "eight_hosts"
OPTIONS = {
    "layer": Option("grim", "whose fuzz", choices=tuple(trial.names())),
    "first": Option(0, "the first seed"),
    "count": Option(10, "so many seeds", 1, 1_000_000),
}


class RtlWorld:
    """The cluster in the simulator, as many nodes of it as a program has."""

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
        return replace(view, names=view.names[: self._nodes], routes=routes, cards=view.cards[: self._nodes])

    def disturb(self, faults: Mapping[str, int]) -> None:
        """See `World`: the RTL loses and damages packets, and does neither reorder nor double them."""
        loss, damage = faults.get("loss", 0) / 1000, faults.get("damage", 0) / 1000
        if loss or damage:
            self._lab.running.invariants.faults_expected = True
        self._lab.running.lose(loss, damage, faults.get("seed", 0))

    def in_flight(self) -> int:
        """See `World`: `drain` looks at the end."""
        return 0


async def run(lab: Lab) -> None:
    """The study: as many programs as there are seeds."""
    name, first, count = lab.text("layer"), lab.option("first"), lab.option("count")
    for seed in range(first, first + count):
        for line in await _apart(lab, name, seed):
            lab.check(False, f"seed {seed}: {line}")
        lab.progress(seed - first + 1, count, "programs")
    lab.metric("programs", count)


async def _apart(lab: Lab, name: str, seed: int) -> list[str]:
    """Run the program of a seed in a copy of this process; what was wrong."""
    folder = Path(lab.plan.request.folder)
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.close(read)
        text = json.dumps(await _whole(lab, name, seed))
        with os.fdopen(write, "w") as out:
            out.write(text)
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as answer:
        text = answer.read()
    os.waitpid(child, 0)
    if text:
        found: list[str] = json.loads(text)
        return found
    failed = folder / "failures.txt"
    return [failed.read_text(encoding="utf-8") if failed.exists() else "the simulation died"]


async def _whole(lab: Lab, name: str, seed: int) -> list[str]:
    program, _ = trial.drawn(name, seed)
    found: Any = []
    try:
        found = await trial.layer(name).run(program, RtlWorld(lab, name, program))
    except Exception as error:  # noqa: BLE001 - whatever software raises is what the fuzz looks for
        found = [trial.told(error)]
    await lab.running.drain()
    return [*found, *lab.running.broken_invariants()]
