"""Interface of a study: a running cluster, its message layer, and the collection of results."""

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
from firmware.layers import boot_waits, boot_words, card_bytes, composition, has_program, nic_program, tolerates_loss
from firmware.stack import Libraries, stack
from firmware.view import ClusterView, MachineCode
from pymodels.card.fabric import EXAMPLE
from pymodels.config.model import ENDPOINT_CARDS, FPGA_CARD
from pymodels.kernel import Kernel, Task
from pymodels.lanai.profile import Profile
from pymodels.lanai.program import Program
from pymodels.profiles.profile import Profile as HardwareProfile
from pymodels.results import Series
from pymodels.trace import in_time_order
from tb.bind.core import RtlCore
from tb.lab import validation
from tb.lab.checks import Checks
from tb.lab.cluster import RunningCluster
from tb.lab.switch import RunningSwitch
from tb.plan.options import options_by_layer
from tb.plan.request import Plan
from tb.report.recorded import Legend, legend_of

BACK_TO_ITSELF = b"\x80"
"""Route byte of a host to itself: output port equal to the input port."""

SCALE = "processor.work_scale"
"""Setting without effect on a NIC that executes its own code."""
TELL_S = 0.1
"""Minimum seconds between progress reports."""


@dataclass
class Findings:
    """Results of a study."""

    metrics: dict[str, float] = field(default_factory=dict)
    series: dict[str, Series] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    checks: Checks = field(default_factory=Checks)
    warnings: list[str] = field(default_factory=list)
    """Remarks on the validity of the run, each once."""
    messages: int = 0
    """Messages that the study has counted as delivered; the trace also has those of lower layers."""


class Notebook(ABC):
    """Results and tasks of a study."""

    def __init__(self) -> None:
        self.findings = Findings()

    @property
    @abstractmethod
    def kernel(self) -> Kernel:
        """Discrete-event loop: tasks and simulated time."""

    def spawn(self, coroutine: Any, name: str) -> Task:
        """Start a task of the study."""
        return self.kernel.spawn(coroutine, name)

    async def all(self, tasks: Sequence[Task]) -> list[Any]:
        """Wait for tasks and return their values."""
        return [await task.finished for task in tasks]

    def warn(self, text: str) -> None:
        """Warn the user, in the terminal and the report: `<subject>: <what is wrong>; <what would be right>`."""
        if text not in self.findings.warnings:
            self.findings.warnings.append(text)

    def metric(self, name: str, value: float) -> None:
        """Report one number. Raises ResultsError, with the line of the study, unless it is finite."""
        word, number = validation.metric(name, value)
        self.findings.metrics[word] = number

    def series(self, name: str, x: Sequence[float], y: Sequence[float], x_unit: str, y_unit: str) -> None:
        """Report a curve.

        Args:
            name: Name of the curve.
            x: Finite numbers.
            y: Finite numbers, as many as `x`.
            x_unit: Unit of `x`.
            y_unit: Unit of `y`.

        Raises:
            ResultsError: Invalid points; the message names the line of the study.
        """
        word, points = validation.series(name, x, y, x_unit, y_unit)
        self.findings.series[word] = points

    def check(self, name: str, holds: bool, failure: str = "") -> None:
        """Check a condition. If it does not hold, the run continues, and its exit code is not zero.

        Each name is a test case in `results.xml`, with all its evaluations. A failure is reported as `name: failure`.

        Args:
            name: What is checked, such as `returned bytes`; unique to one line of the study.
            holds: The condition.
            failure: What is wrong if the condition does not hold, with the value at fault.

        Raises:
            ResultsError: Invalid argument, or a name that another line uses; the message names the line of the study.
        """
        caller = sys._getframe(1)
        if told := self.findings.checks.evaluate(name, holds, failure, self.kernel.now, caller):
            self.findings.failures.append(f"{name}: {told}")


def view_of(plan: Plan, vnn: int, options: Mapping[str, float | str]) -> ClusterView:
    """Return the cluster view of the software on a node of a plan.

    Args:
        plan: Plan of the run.
        vnn: Node number.
        options: Options of the layer.
    """
    cluster = plan.cluster
    sram_bytes = plan.profile.integer("sram.bytes")
    routes = dict(cluster.routes_from(vnn))
    host = cluster.hosts[vnn]
    if not set(ENDPOINT_CARDS).isdisjoint(host.cards) or any(connection.process for connection in host.channels):
        routes[vnn] = BACK_TO_ITSELF
    cards = tuple(frozenset(host.cards) for host in cluster.hosts)
    view = ClusterView(vnn, cluster.names, routes, options, sram_bytes, cards, cluster.circuits or EXAMPLE)
    view = replace(view, pnns=tuple(host.pnn for host in cluster.hosts), queues=host.queues)
    if any(one.channels for one in cluster.hosts):
        view = replace(view, channels=tuple(one.channels for one in cluster.hosts))
    view = replace(view, config=cluster.file, other_routes=cluster.other_routes_from(vnn))
    return replace(view, fpga=_fpga(plan.profile)) if any(FPGA_CARD in used for used in cards) else view


def _fpga(profile: HardwareProfile) -> Mapping[str, int]:
    """Return the parameters that an FPGA card's driver gets from the profile."""
    return {name: profile.integer(f"fpga.{name}") for name in ("clock_divisor", "image_bytes", "slot_bytes")}


class Lab(Notebook):
    """Interface of one study in one run."""

    def __init__(self, plan: Plan, running: RunningCluster | RunningSwitch) -> None:
        super().__init__()
        self.plan = plan
        self._running = running
        self._told = 0.0
        self._progress: dict[str, int | str] = {}
        self._libraries: dict[int, Libraries] = {}
        """Libraries by node, once a layer has been started there."""
        running.engine.heartbeat = self.report_progress

    @property
    def running(self) -> RunningCluster:
        """Running cluster. Raises TypeError in a study of a single crossbar."""
        if not isinstance(self._running, RunningCluster):
            raise TypeError("lab.running: this study runs on a single crossbar; use lab.switch")
        return self._running

    @property
    def switch(self) -> RunningSwitch:
        """Running crossbar. Raises TypeError in a study of a cluster."""
        if not isinstance(self._running, RunningSwitch):
            raise TypeError("lab.switch: this study runs on a cluster; use lab.running")
        return self._running

    @property
    def simulation(self) -> RunningCluster | RunningSwitch:
        """Running cluster or crossbar."""
        return self._running

    @property
    def kernel(self) -> Kernel:
        """Discrete-event loop: tasks and simulated time."""
        return self._running.kernel

    @property
    def seed(self) -> int:
        """Seed of the run."""
        return self.plan.request.seed

    @property
    def lossy(self) -> bool:
        """True if packets are randomly lost, damaged or reordered (`fault.loss`, `fault.damage`, `fault.reorder`)."""
        return any(self.plan.options[name] for name in ("fault.loss", "fault.damage", "fault.reorder"))

    def option(self, name: str) -> int:
        """Return a whole-number option of the study."""
        return int(self.plan.options[name])

    def text(self, name: str) -> str:
        """Return a text option of the study."""
        return str(self.plan.options[name])

    def start_layer(
        self,
        layer: str,
        options: Mapping[str, float | str] | None = None,
        of_host: Mapping[int, Mapping[str, float | str]] | None = None,
    ) -> list[Any]:
        """Start a message layer on all nodes: firmware on each NIC, library on each host, and lower layers
        first if needed.

        Args:
            layer: Name of the layer.
            options: Options of the layer, which override those of the user.
            of_host: Further options of single hosts and their NICs, by VNN.

        Returns:
            The libraries by VNN.
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
        """Reset every NIC and clear its memory, so that other layers can start. Nothing may be in flight."""
        running, expected = self.running, self.running.invariants.faults_expected
        for node, nic in enumerate(running.nics):
            await running.hold(node)
            nic.sram[:] = bytes(nic.sram_bytes)
            await release(running.hosts[node])
        for host, nic in zip(running.hosts, running.nics, strict=True):
            # The read returns after the posted release, since a card in reset forgets its program, and after the last
            # posted writes of the library, which may have arrived after the memory was cleared.
            await host.pio_read(host.nic_base)
            nic.sram[:] = bytes(nic.sram_bytes)
        running.invariants.faults_expected = expected
        running.layers = ()
        self._libraries.clear()

    def start_node(self, layer: str, vnn: int, options: Mapping[str, float | str] | None = None) -> Any:
        """Start a layer's firmware on one NIC and its library on that host, also again after a reset.

        Lower layers that do not run yet are started first.

        Args:
            layer: Name of the layer.
            vnn: Node number.
            options: Options of the layer.

        Returns:
            The library.
        """
        if vnn not in self._libraries:

            def view(one: str, given: Options) -> ClusterView:
                options = self._set_by_user(one)
                unset = {name for name in options if f"{one}.{name}" not in self.plan.given} - given.keys()
                return replace(self.view(vnn, {**options, **given}), unset=frozenset(unset))

            self._libraries[vnn] = Libraries(self.running.hosts[vnn], view, self._program)
        if (circuits := self.running.circuits.get(vnn)) is not None:
            circuits.most = card_bytes(layer, {**self._set_by_user(layer), **(options or {})}) or circuits.most
        library = self._libraries[vnn].start(layer, options)
        for warning in getattr(library, "warnings", ()):
            self.warn(warning)
        return library

    def _program(self, layer: str, view: ClusterView) -> ClusterView:
        """Start a layer's firmware, if any, on the NIC of a node and return the view for its library."""
        if view.me in self.plan.in_c:
            return self.executed_view(layer, view)
        if has_program(layer):
            nic = self.running.nics[view.me]
            nic.spawn(nic_program(layer)(nic, view), f"{layer} program")
        return view

    def executed_view(self, layer: str, view: ClusterView) -> ClusterView:
        """Return the view of a node whose NIC executes a layer's committed image once its host has loaded it."""
        kind = self.plan.profile.kind
        if self.plan.profile.number(SCALE) != 1:
            name = self.plan.cluster.names[view.me]
            self.warn(f"{SCALE}: no effect on {name}, whose NIC executes its own code; choose nic.firmware=python")
        program = load(layer, kind)
        self.running.execute(view.me, program)
        words = boot_words(layer, view, cores()[kind].word_bytes)
        waits = boot_waits(layer, self.running.nics[view.me], view)
        return replace(view, machine_code=MachineCode(program, words, waits))

    def view(self, vnn: int, options: Mapping[str, float | str]) -> ClusterView:
        """Return the cluster view of the software on a node.

        Args:
            vnn: Node number.
            options: Options of the layer.
        """
        return view_of(self.plan, vnn, options)

    def progress(self, done: int, total: int, what: str = "messages") -> None:
        """Report the progress of the study to the terminal.

        Args:
            done: Number of completed units.
            total: Number of all units.
            what: Name of the units.
        """
        self._progress = {"done": done, "total": total, "what": what}
        self.report_progress(last=done == total)

    def report_progress(self, last: bool = False) -> None:
        """Send a progress report to the parent process, at most ten a second except for the last."""
        now = time.perf_counter()
        if self.plan.request.progress_fd < 0 or (now - self._told < TELL_S and not last):
            return
        self._told = now
        state = {**self._progress, "sim_us": self.kernel.now / 1e6, "messages": self.findings.messages}
        os.write(self.plan.request.progress_fd, json.dumps(state).encode() + b"\n")

    def executed(self) -> Mapping[str, Profile]:
        """Return the clock profile of each NIC that executes its firmware, by host."""
        return {host: Profile.counted(core.program, core.counts.tolist()) for host, core in self._cores().items()}

    def programs(self) -> Mapping[str, Program]:
        """Return the last program of each NIC that executes its firmware, by host."""
        return {host: core.program for host, core in self._cores().items()}

    def _cores(self) -> Mapping[str, RtlCore]:
        hosts = self.plan.cluster.topology.hosts
        cores = sorted(self._running.cores.items()) if isinstance(self._running, RunningCluster) else []
        return {hosts[node]: core for node, core in cores}

    def legend(self) -> Legend:
        """Return the legend with the meanings of the numbers in the trace."""
        clocks = {name: self.plan.profile.integer(f"clock.{name}_ps") for name in ("nic", "link", "pci")}
        lost = self._running.doorway.trace_lost
        topology, kind = self.plan.cluster.topology, self.plan.profile.kind
        running = self._running
        in_c = (running.places.known, running.cores) if isinstance(running, RunningCluster) else ((), ())
        return legend_of(topology, running.paths.names, clocks, lost, kind, running.layers, *in_c)

    @property
    def place(self) -> str:
        """Place of the hardware in results: name of the simulator, or `board`."""
        return self.plan.request.simulator

    def captured(self) -> tuple[list[Any], int]:
        """Return the packets on the cables, by cable, and the number of those for which there was no room."""
        return self._running.doorway.captured()

    def trace(self) -> NDArray[np.void]:
        """Return the trace so far in time order, shape (n,)."""
        return in_time_order(self._running.doorway.trace())
