"""Cluster inside a cocotb test: `start`, its hosts, and its end."""

from __future__ import annotations

import os
import time
from asyncio import CancelledError
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import cocotb
from cocotb.triggers import Event as CocotbEvent

from pymodels.errors import ConfigError, SanlabError, nearest, shown
from pymodels.kernel import Kernel
from tb.cocotb_test.built import VARIABLE, Built, Wanted, check_built, plan_of, study_of
from tb.cocotb_test.crossing import Crossing
from tb.cocotb_test.names import Place, Signals
from tb.cocotb_test.running_test import ENGINE, fail, failure
from tb.cocotb_test.view import View, view
from tb.lab.cases import RunCases
from tb.lab.cluster import RunningCluster
from tb.lab.course import run_study
from tb.lab.lab import Lab
from tb.lab.outcome import leave_behind
from tb.monitors.monitor import Monitor
from tb.plan import studies
from tb.plan.monitors import KINDS
from tb.plan.request import Plan
from tb.plan.studies import StudyInfo
from tb.run.ends import die_with_parent, leave_interrupts_to_parent
from tb.stuck.watch import explain_failure
from tb.tools.watchdog import Watchdog

HANG_US = "run.hang_us"
LIMIT = {"run.limit_s": "600"}
"""Default limit of wall-clock time of a test."""
SLEEPS = {HANG_US: "20000", **LIMIT}
"""Default settings of a test without public signals."""
RUNS_FREELY = {HANG_US: "2000", "run.always_on": "1", **LIMIT}
"""Default settings of a test with public signals: every clock edge is there, and silence costs time."""


class HostEnd:
    """Host of a cluster in a cocotb test.

    Attributes:
        name: Name of the host.
        vnn: Node number.
        library: View of the layer's library; None without a layer.
        verbs: View of the host's verbs (`firmware.verbs.Host`).
    """

    def __init__(self, name: str, vnn: int, library: Any, verbs: Any) -> None:
        self.name, self.vnn, self.library, self.verbs = name, vnn, library, verbs

    def __repr__(self) -> str:
        return f"<host {self.name}>"


class Cluster:
    """Running cluster in a cocotb test. `start` makes it."""

    def __init__(
        self, running: RunningCluster, lab: Lab, info: StudyInfo, crossing: Crossing, signals: Signals
    ) -> None:
        self.lab = lab
        """Interface of a study to the same run."""
        self.crossing = crossing
        self._running, self._info, self._signals = running, info, signals
        self._begun = time.perf_counter()
        self._over = lab.kernel.future("the end of the test")
        self.started, self._ended = CocotbEvent(), CocotbEvent()
        self._ended_by: list[str] = []
        self._cases = RunCases(Path(lab.plan.request.folder), info, lab, self._begun)
        self.hosts: list[HostEnd] = []

    @property
    def kernel(self) -> Kernel:
        """Event loop of the software. Its `now` is the time of software's last turn in ps."""
        return self.lab.kernel

    def host(self, name: str) -> HostEnd:
        """Return a host by name. Raises ConfigError with the nearest name for an unknown host."""
        for host in self.hosts:
            if host.name == name:
                return host
        known = [host.name for host in self.hosts]
        raise ConfigError("host", 0, f"unknown host {name!r}", f"the cluster has {len(known)}", nearest(name, known))

    def node(self, name: str) -> Place:
        """Return the public signals of a host's node. Raises ConfigError with the nearest name for an unknown host."""
        return self._signals.place(self.host(name).name)

    def switch(self, name: str) -> Place:
        """Return the public signals of a switch. Raises ConfigError with the nearest name for an unknown switch."""
        known = [switch.name for switch in self.lab.plan.cluster.topology.switches]
        if name not in known:
            remedy = nearest(name, known)
            raise ConfigError("switch", 0, f"unknown switch {name!r}", f"the cluster has {len(known)}", remedy)
        return self._signals.place(name)

    def monitor(self, name: str) -> Monitor[Any]:
        """Return a monitor of a bus or a link, such as `paris.pci`, with `transactions`, `violations` and callbacks.

        `tb.agents.cluster.ClusterMonitor` makes a monitor of cocotb-bus with scoreboards of it. Raises SanlabError for
        an unknown name, or if the test file declares no MONITORS.
        """
        if self._running.monitors is None:
            remedy = f'declare MONITORS = "{",".join(KINDS)}" at the top of the test file'
            raise SanlabError(f"monitor {name!r}", "this test has no monitors", remedy)
        return self._running.monitor(name)

    async def call(self, work: Any, name: str = "a call") -> Any:
        """Await work of software in a cocotb task.

        Args:
            work: Coroutine, future, event or task of the kernel, or a function that returns a value or one of these.
            name: Name of the work for messages.

        Returns:
            The result, as a view if it has coroutine methods.
        """
        work = work.unwrapped if isinstance(work, View) else work
        begin: Callable[[], Any] = work if callable(work) else lambda: work
        return view(self.crossing, await self.crossing.call(begin, name), name)

    async def run(self) -> None:
        """Run the study with which the cluster was started; its metrics are in `lab.findings`.

        Raises:
            AssertionError: A check of the study failed.
        """
        await self.crossing.call(lambda: run_study(self._info, self.lab), self._info.name)
        assert not self.lab.findings.failures, "; ".join(self.lab.findings.failures)

    async def end(self, drain_us: int = 1000) -> None:
        """Wait until nothing is in flight, end the cluster, and check the invariants of the run.

        Raises:
            AssertionError: An invariant is broken, or packets are left in flight after `drain_us`.
        """
        await self.call(lambda: self._running.drain(drain_us), "end")
        self.crossing.over = "its end() was called"
        self.crossing.close(self._over)
        await self._ended.wait()

    async def run_engine(self, always_on: bool) -> None:
        """Run the cluster in a background task until its end or that of the test; then leave results and trace."""
        lab = self.lab
        cost, limits = self._running.engine.cost, (lab.option("run.turn_s"), lab.option("run.limit_s"))
        turns = lambda: (cost.python_wakes, lab.kernel.now, self._running.doorway.now())  # noqa: E731 - one use
        watchdog = Watchdog(*limits, turns, lab.kernel.waiting, self._cases.note)
        main = lab.kernel.spawn(_until(self._over), "cocotb test")
        error: BaseException | None = None
        process = die_with_parent(self._ended_by.append)
        watchdog.start()
        try:
            await self._running.engine.start(always_on=always_on)
            leave_interrupts_to_parent()
            self._cases.note()
            self.started.set()
            await self._running.engine.run(main, int(lab.plan.options[HANG_US]) * 1_000_000)
        except BaseException as raised:
            error = raised
            raise
        finally:
            watchdog.stop()
            if os.getpid() != process:  # a child that the test has forked
                os._exit(1)
            self.crossing.over = self.crossing.over or _reason(error)
            self._ended.set()  # its tasks run when this one has ended
            self._leave(None if isinstance(error, CancelledError) else error)

    def _leave(self, error: BaseException | None) -> None:
        """Write results and trace, and fail the test for a broken invariant."""
        lab, broken = self.lab, self._running.broken_invariants()
        cycles = explain_failure(lab, error, broken)
        found = [*self._ended_by, *lab.findings.failures, *(f"invariant: {line}" for line in broken), *cycles]
        lab.findings.failures = found
        ends = [shown(f"{type(one).__name__}: {one}") for one in (error or failure(),) if one is not None]
        self._cases.finish(error or failure(), [*ends, *cycles], self._running.invariants_by_name())
        simulator = f"{cocotb.SIM_NAME} {cocotb.SIM_VERSION}"
        folder, wall = Path(lab.plan.request.folder), time.perf_counter() - self._begun
        leave_behind(folder, self._info, lab, wall, simulator)
        if self._running.monitors is not None:
            self._running.monitors.leave_behind(folder)
        if found and error is None:
            fail(AssertionError("; ".join(found)))


def _reason(error: BaseException | None) -> str:
    if error is None or isinstance(error, CancelledError):
        return "its test is over"
    return f"{type(error).__name__}: {error}"


async def _until(over: Any) -> None:
    await over


async def start(
    dut: Any,
    layer: str = "",
    profile: str = "",
    cluster: str = "",
    settings: Mapping[str, Any] | None = None,
    study: str = "",
    **options: Any,
) -> Cluster:
    """Start the cluster of a cocotb test. Arguments, result and errors are those of `sanlab.cocotb.start`."""
    if VARIABLE not in os.environ:
        cause, remedy = "this simulator runs no cluster test", "run the test with pytest or `sanlab test-cluster`"
        raise SanlabError("start", cause, remedy)
    built = Built.load(Path(os.environ[VARIABLE]))
    given = {key: str(value) for key, value in {**(settings or {}), **options}.items()}
    given = (RUNS_FREELY if built.public else SLEEPS) | given
    wanted = Wanted(layer, profile, cluster, given)
    info = studies.load(study) if study else study_of(built.test, layer)
    understood = plan_of(built, wanted, info)
    check_built(built, understood, layer)
    return await _started(dut, understood, info, layer, Signals(dut, built))


async def _started(dut: Any, understood: Plan, info: StudyInfo, layer: str, signals: Signals) -> Cluster:
    running = RunningCluster(dut, understood, direct=False)
    lab = Lab(understood, running)
    crossing = Crossing(running.engine, running.doorway)
    cluster = Cluster(running, lab, info, crossing, signals)
    cocotb.start_soon(cluster.run_engine(bool(understood.options["run.always_on"])), name=ENGINE)
    await cluster.started.wait()
    await cluster.call(running.boot, "boot")
    libraries: Sequence[Any] = await crossing.call(lambda: lab.start_layer(layer), f"start of {layer}") if layer else []
    for vnn, name in enumerate(understood.cluster.names):
        library = View(crossing, libraries[vnn], f"{name}.library") if layer else None
        cluster.hosts.append(HostEnd(name, vnn, library, View(crossing, running.hosts[vnn], f"{name}.verbs")))
    return cluster
