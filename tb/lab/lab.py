"""What a study works with: a running cluster, its message layer, and the collection of results."""

from __future__ import annotations

import json
import os
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firmware.common.host.card import release
from firmware.images import cores, load
from firmware.layer import Options
from firmware.layers import boot_waits, boot_words, composition, has_program, nic_program, tolerates_loss
from firmware.stack import Libraries, stack
from firmware.view import ClusterView, MachineCode
from pymodels.card.fabric import EXAMPLE
from pymodels.config.model import FPGA_CARD
from pymodels.kernel import Kernel, Task
from pymodels.lanai.profile import Profile
from pymodels.lanai.program import Program
from pymodels.results import Series
from tb.bind.core import RtlCore
from tb.lab import handed_in
from tb.lab.cluster import RunningCluster
from tb.lab.switch import RunningSwitch
from tb.plan.options import options_by_layer
from tb.plan.request import Plan
from tb.plan.settings import card_period
from tb.report.recorded import Legend, legend_of

BACK_TO_ITSELF = b"\x80"
"""Route byte of a host to itself: out of the port at which it came in."""

TELL_S = 0.1
"""Between two reports of how far a run is."""


@dataclass
class Findings:
    """The results of a study."""

    metrics: dict[str, float] = field(default_factory=dict)
    series: dict[str, Series] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    messages: int = 0


class Notebook(ABC):
    """The results of a study, and its tasks."""

    def __init__(self) -> None:
        self.findings = Findings()

    @property
    @abstractmethod
    def kernel(self) -> Kernel:
        """The discrete-event loop: tasks and simulated time."""

    def spawn(self, coroutine: Any, name: str) -> Task:
        """Start a task of the study."""
        return self.kernel.spawn(coroutine, name)

    async def all(self, tasks: Sequence[Task]) -> list[Any]:
        """Wait for tasks; their return values."""
        return [await task.finished for task in tasks]

    def metric(self, name: str, value: float) -> None:
        """Hand in one number. Raises ResultsError, with the line of the study, unless it is finite."""
        word, number = handed_in.metric(name, value)
        self.findings.metrics[word] = number

    def series(self, name: str, x: Sequence[float], y: Sequence[float], x_unit: str, y_unit: str) -> None:
        """Hand in a curve. Raises ResultsError, with the line of the study, unless x and y are finite numbers of one
        count.
        """
        word, points = handed_in.series(name, x, y, x_unit, y_unit)
        self.findings.series[word] = points

    def check(self, holds: bool, failure: str) -> None:
        """A condition that must hold; `failure` says what is wrong when not. The run goes on, and ends non-zero."""
        if told := handed_in.failure(holds, failure):
            self.findings.failures.append(told)


class Lab(Notebook):
    """One study's view of one run."""

    def __init__(self, plan: Plan, running: RunningCluster | RunningSwitch) -> None:
        super().__init__()
        self.plan = plan
        self._running = running
        self._told = 0.0
        self._progress: dict[str, int | str] = {}
        self._libraries: dict[int, Libraries] = {}
        """By node, once a layer has been started there."""
        running.engine.heartbeat = self.tell

    @property
    def running(self) -> RunningCluster:
        """The cluster. Raises TypeError in a study of a lone crossbar."""
        if not isinstance(self._running, RunningCluster):
            raise TypeError("this study runs on a lone crossbar, not on a cluster")
        return self._running

    @property
    def switch(self) -> RunningSwitch:
        """The lone crossbar. Raises TypeError in a study of a cluster."""
        if not isinstance(self._running, RunningSwitch):
            raise TypeError("this study runs on a cluster, not on a lone crossbar")
        return self._running

    @property
    def simulation(self) -> RunningCluster | RunningSwitch:
        """Whichever of the two runs."""
        return self._running

    @property
    def kernel(self) -> Kernel:
        """The discrete-event loop: tasks and simulated time."""
        return self._running.kernel

    @property
    def seed(self) -> int:
        """The run's seed."""
        return self.plan.request.seed

    @property
    def lossy(self) -> bool:
        """Whether packets are lost, damaged or reordered at random (`fault.loss`, `fault.damage`, `fault.reorder`)."""
        return any(self.plan.options[name] for name in ("fault.loss", "fault.damage", "fault.reorder"))

    def option(self, name: str) -> int:
        """A whole-number option of the study."""
        return int(self.plan.options[name])

    def text(self, name: str) -> str:
        """A text option of the study."""
        return str(self.plan.options[name])

    def start_layer(
        self,
        layer: str,
        options: Mapping[str, float | str] | None = None,
        of_host: Mapping[int, Mapping[str, float | str]] | None = None,
    ) -> list[Any]:
        """Start a message layer: its program on every NIC, its library on every host, and before it what it stands on
        where that does not run yet. The libraries by VNN. `of_host`: further options of single hosts and their NICs.
        """
        options = options or {}
        told = {**options_by_layer(self.plan.options), layer: {**self._set_by_user(layer), **options}}
        layers = stack([*self.running.layers, layer], told)
        self.running.use_layer(*layers, composed={one: composition(one, told.get(one, {})) for one in layers})
        if self.lossy and any(tolerates_loss(one, told.get(one, {})) for one in layers):
            self.running.invariants.faults_expected = True
        return [
            self.start_node(layer, vnn, {**options, **(of_host or {}).get(vnn, {})})
            for vnn in range(len(self.running.hosts))
        ]

    def _set_by_user(self, layer: str) -> dict[str, float | str]:
        prefix = f"{layer}."
        return {
            name.removeprefix(prefix): value for name, value in self.plan.options.items() if name.startswith(prefix)
        }

    async def change_layers(self) -> None:
        """Have other layers from now on: every NIC is reset, its memory cleared, and what ran there is forgotten.
        Nothing may be in flight.
        """
        running, expected = self.running, self.running.invariants.faults_expected
        for node, nic in enumerate(running.nics):
            await running.hold(node)
            nic.sram[:] = bytes(nic.sram_bytes)
            await release(running.hosts[node])
        for host, nic in zip(running.hosts, running.nics, strict=True):
            # Behind the release, which is posted: a card in reset forgets its program. And behind what the host's
            # library has posted last, which may have come after the memory was cleared.
            await host.pio_read(host.nic_base)
            nic.sram[:] = bytes(nic.sram_bytes)
        running.invariants.faults_expected = expected
        running.layers = ()
        self._libraries.clear()

    def start_node(self, layer: str, vnn: int, options: Mapping[str, float | str] | None = None) -> Any:
        """Start a layer's program on one NIC, and its library on that host: with all of them, or once more after a
        reset. What it stands on is started first where it does not run.
        """
        if vnn not in self._libraries:

            def view(one: str, given: Options) -> ClusterView:
                return self.view(vnn, {**self._set_by_user(one), **given})

            self._libraries[vnn] = Libraries(self.running.hosts[vnn], view, self._program)
        library = self._libraries[vnn].start(layer, options)
        for warning in getattr(library, "warnings", ()):
            print(f"warning: {warning}", file=sys.stderr)
        return library

    def _program(self, layer: str, view: ClusterView) -> ClusterView:
        """Start a layer's program on the NIC of a node, where it has one; the view for its library."""
        if view.me in self.plan.in_c:
            return self.executed_view(layer, view)
        if has_program(layer):
            nic = self.running.nics[view.me]
            nic.spawn(nic_program(layer)(nic, view), f"{layer} program")
        return view

    def executed_view(self, layer: str, view: ClusterView) -> ClusterView:
        """The view of a node whose NIC executes a layer's committed image as soon as its host has loaded it."""
        kind = self.plan.profile.kind
        program = load(layer, kind)
        self.running.execute(view.me, program)
        words = boot_words(layer, view, cores()[kind].word_bytes)
        waits = boot_waits(layer, self.running.nics[view.me], view)
        return replace(view, machine_code=MachineCode(program, words, waits))

    def view(self, vnn: int, options: Mapping[str, float | str]) -> ClusterView:
        """What software on a node knows of the cluster."""
        cluster = self.plan.cluster
        sram_bytes = self.plan.profile.integer("sram.bytes")
        routes = dict(cluster.routes_from(vnn))
        if FPGA_CARD in cluster.hosts[vnn].cards:
            routes[vnn] = BACK_TO_ITSELF
        cards = tuple(frozenset(host.cards) for host in cluster.hosts)
        view = ClusterView(vnn, cluster.names, routes, options, sram_bytes, cards, cluster.circuits or EXAMPLE)
        view = replace(view, pnns=tuple(host.pnn for host in cluster.hosts), queues=cluster.hosts[vnn].queues)
        view = replace(view, config=cluster.file, other_routes=cluster.other_routes_from(vnn))
        return replace(view, fpga=self._fpga()) if any(FPGA_CARD in used for used in cards) else view

    def _fpga(self) -> Mapping[str, int]:
        """What the driver of an FPGA card tells it, from the profile."""
        profile = self.plan.profile
        config = profile.integer("fpga.config_us") * 1_000_000 // card_period(profile)
        return {"clock_divisor": profile.integer("fpga.clock_divisor"), "config_clocks": config}

    def progress(self, done: int, total: int, what: str = "messages") -> None:
        """Tell the terminal how far the study is."""
        self._progress = {"done": done, "total": total, "what": what}
        self.tell(last=done == total)

    def tell(self, last: bool = False) -> None:
        """Report how far the run is to whoever watches, at most ten times a second unless it is the last time."""
        now = time.perf_counter()
        if self.plan.request.progress_fd < 0 or (now - self._told < TELL_S and not last):
            return
        self._told = now
        state = {**self._progress, "sim_us": self.kernel.now / 1e6, "messages": self.findings.messages}
        os.write(self.plan.request.progress_fd, json.dumps(state).encode() + b"\n")

    def executed(self) -> Mapping[str, Profile]:
        """Where the clocks of each NIC that executes its firmware went, by host."""
        return {host: Profile.counted(core.program, core.counts.tolist()) for host, core in self._cores().items()}

    def programs(self) -> Mapping[str, Program]:
        """What each NIC that executes its firmware has executed last, by host."""
        return {host: core.program for host, core in self._cores().items()}

    def _cores(self) -> Mapping[str, RtlCore]:
        hosts = self.plan.cluster.topology.hosts
        cores = sorted(self._running.cores.items()) if isinstance(self._running, RunningCluster) else []
        return {hosts[node]: core for node, core in cores}

    def legend(self) -> Legend:
        """What the numbers of the trace mean."""
        clocks = {name: self.plan.profile.integer(f"clock.{name}_ps") for name in ("nic", "link", "pci")}
        lost = self._running.doorway.trace_lost
        topology, kind = self.plan.cluster.topology, self.plan.profile.kind
        running = self._running
        in_c = (running.places.known, running.cores) if isinstance(running, RunningCluster) else ((), ())
        return legend_of(topology, running.paths.names, clocks, lost, kind, running.layers, *in_c)

    def trace(self) -> NDArray[np.void]:
        """The trace so far, in time order, shape (n,)."""
        records = self._running.doorway.trace()
        return np.take(records, np.argsort(records["time"], kind="stable"))  # far faster than an index of records
