"""Runs of studies for the system tests, through the functions of `make run`, with results in a folder of the test.

Strategy: a run is specified by study, simulator and settings, as by a user, and returns its exit state, results, trace
and failures. One function compares results, one traces. Builds are cached by content and shared by all tests.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from pymodels.results import Results, differences, read_results
from pymodels.trace import Part, TraceEvent, unit
from tb.plan import studies
from tb.plan.request import Request, plan, resolve
from tb.report.measured import FILE as MEASURED
from tb.report.measured import declared, definition
from tb.report.packets import FILE as PACKETS
from tb.run.command import execute
from tb.tools.paths import SIMULATORS

SCENARIOS = "tests.system.scenarios"
LINK_PS = 6250


@dataclass(frozen=True)
class Run:
    """Exit state and files of a finished run."""

    passed: bool
    failures: list[str]
    folder: Path

    @property
    def results(self) -> Results:
        """Contents of `results.json`."""
        return read_results(self.folder / "results.json")

    @property
    def metrics(self) -> dict[str, float]:
        """Metrics of the study."""
        return dict(self.results.metrics)

    @property
    def trace(self) -> NDArray[np.void]:
        """Trace in an order that does not depend on the order of writers within a picosecond; shape (n,)."""
        records: NDArray[np.void] = np.load(self.folder / "trace.npy")
        return records[
            np.lexsort(
                [records[name] for name in ("message", "argument2", "argument", "packet", "event", "unit", "time")]
            )
        ]

    def times(self, node: int, part: Part, event: TraceEvent) -> list[int]:
        """Return the times of an event at a part of a node, in ps."""
        records = self.trace
        return [int(t) for t in records["time"][(records["unit"] == unit(node, part)) & (records["event"] == event)]]


def run(
    study: str, simulator: str, folder: Path, settings: str = "", cluster: str = "", seed: int = 1, profile: str = ""
) -> Run:
    """Run a study, or a scenario by its short name, by default on the cluster that it needs."""
    name = study if study in studies.names() else f"{SCENARIOS}.{study}"
    info = studies.load(name)
    given = (cluster or info.cluster or "", profile, settings, SIMULATORS)
    request = resolve(name, simulator, str(seed), False, *given)
    request = Request(**{**request.__dict__, "folder": str(folder)})
    outcome = execute(request, info, plan(request, info), Console(file=io.StringIO()))
    assert not (unknown := undefined(study, folder)), f"without a definition in {MEASURED}: {', '.join(unknown)}"
    return Run(outcome.passed, outcome.failures, folder)


def undefined(study: str, folder: Path) -> list[str]:
    """Return the metrics and series of a study that are missing from its section of `measured.toml`."""
    if study not in declared() or not (folder / "results.json").exists():
        return []
    found = read_results(folder / "results.json")
    names = [("metrics", name) for name in found.metrics] + [("series", name) for name in found.series]
    return [name for kind, name in names if definition(study, kind, name) is None]


def must(
    study: str, simulator: str, folder: Path, settings: str = "", cluster: str = "", seed: int = 1, profile: str = ""
) -> Run:
    """Run a study that must pass."""
    done = run(study, simulator, folder, settings, cluster, seed, profile)
    assert done.passed, "\n".join([*done.failures, f"log: {done.folder / 'sim.log'}"])
    return done


def assert_equal(one: Run, other: Run, same_simulator: bool = False) -> None:
    """Check that results agree, traces record for record, and the packets on the wires byte for byte."""
    assert differences(one.results, other.results, same_simulator) == []
    left, right = one.trace, other.trace
    common = min(len(left), len(right))
    unequal = np.flatnonzero(left[:common] != right[:common])
    assert not len(unequal), f"traces differ first at record {unequal[0]}: {left[unequal[0]]} != {right[unequal[0]]}"
    assert len(left) == len(right), f"{len(left)} records != {len(right)}"
    packets = [
        path.read_bytes() if path.exists() else b"none" for path in (one.folder / PACKETS, other.folder / PACKETS)
    ]
    assert packets[0] == packets[1]
