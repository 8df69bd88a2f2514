"""Some seeds, one after the other: what a worker does, on the machine in a process of its own, on the RTL in a run.

`python -m tb.fuzz.batch LAYER FIRST COUNT COVERED` runs seeds on the machine and prints what it found as JSON.
"""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import coverage
from rich.console import Console

from firmware.layers import folder_of
from tb.fuzz import trial
from tb.plan import studies
from tb.plan.request import plan, resolve
from tb.run.command import execute
from tb.sweep.work import Done
from tb.tools.paths import OUT, ROOT, SIMULATORS

WORK = OUT / "fuzz"
"""Where simulators run."""
STUDY = "tb.fuzz.rtl"
Arcs = Mapping[str, list[tuple[int, int]]]
"""By file: jumps from line to line that happened."""


@dataclass(frozen=True)
class Batch:
    """Seeds of one layer. `simulator`: empty for the machine."""

    layer: str
    first: int
    count: int
    simulator: str = ""
    covered: bool = False
    """Note which lines of the layer's firmware ran."""
    shrink: int = 0
    """On the RTL: seconds to make each program that fails smaller."""

    @property
    def study(self) -> str:
        """What it belongs to."""
        return f"fuzz-{self.layer}"


@dataclass
class Found:
    """What a batch has found."""

    failures: dict[int, list[str]] = field(default_factory=dict)
    """By seed."""
    arcs: dict[str, list[tuple[int, int]]] = field(default_factory=dict)

    @staticmethod
    def read(text: str) -> Found:
        """From JSON."""
        told = json.loads(text)
        failures = {int(seed): list(lines) for seed, lines in told["failures"].items()}
        return Found(failures, {name: [(a, b) for a, b in arcs] for name, arcs in told["arcs"].items()})

    def text(self) -> str:
        """As JSON."""
        return json.dumps({"failures": self.failures, "arcs": self.arcs})


def firmware(layer: str) -> Path:
    """The folder of a layer's NIC program, or of its library where it has no other side."""
    return folder_of(layer)


def on_machine(batch: Batch) -> Found:
    """Run a batch on the machine, in this process."""
    found = Found()
    watch = coverage.Coverage(data_file=None, branch=True, source=[str(firmware(batch.layer))])
    if batch.covered:
        watch.start()
    for seed in range(batch.first, batch.first + batch.count):
        program, _ = trial.drawn(batch.layer, seed)
        failures = trial.on_machine(batch.layer, program).failures
        if failures:
            found.failures[seed] = list(failures)
    if batch.covered:
        watch.stop()
        data = watch.get_data()
        found.arcs = {str(Path(name).relative_to(ROOT)): data.arcs(name) or [] for name in data.measured_files()}
    return found


def run_batch(batch: Batch) -> Done:
    """Run a batch, wherever it runs. Never raises for what a program can do."""
    return _simulated(batch) if batch.simulator else _calculated(batch)


def _calculated(batch: Batch) -> Done:
    words = [batch.layer, str(batch.first), str(batch.count), str(int(batch.covered))]
    command = [sys.executable, "-m", "tb.fuzz.batch", *words]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if ended.returncode:
        return Done(failures=(f"seeds from {batch.first}: {(ended.stderr.strip().splitlines() or ['died'])[-1]}",))
    return Done(ended.stdout)


def _simulated(batch: Batch) -> Done:
    WORK.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(dir=WORK, prefix=f"{batch.layer}-{batch.first}-"))
    try:
        settings = f"layer={batch.layer} first={batch.first} count={batch.count} shrink={batch.shrink}"
        info = studies.load(STUDY)
        profile = trial.profile(batch.layer)
        request = resolve(STUDY, batch.simulator, "1", False, info.cluster or "", profile, settings, SIMULATORS)
        request = type(request)(**{**request.__dict__, "folder": str(folder)})
        outcome = execute(request, info, plan(request, info), Console(file=io.StringIO()))
        failed = folder / "failures.txt"
        lines = failed.read_text(encoding="utf-8").splitlines() if failed.exists() else outcome.failures
        return Done(Found(_by_seed(lines)).text()) if outcome.tests else Done(failures=tuple(outcome.failures))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _by_seed(lines: list[str]) -> dict[int, list[str]]:
    """The failures of the study, which begin with their seeds."""
    found: dict[int, list[str]] = {}
    for line in lines:
        head, _, rest = line.partition(": ")
        if head.startswith("seed "):
            found.setdefault(int(head.removeprefix("seed ")), []).append(rest)
    return found


def covered(arcs: Arcs, layer: str) -> dict[str, Any]:
    """Lines and branches of a layer's firmware that ran: the totals of a report of coverage."""
    watch = coverage.Coverage(data_file=None, branch=True, source=[str(firmware(layer))])
    watch.get_data().add_arcs({str(ROOT / name): pairs for name, pairs in arcs.items()})
    with tempfile.NamedTemporaryFile("r", suffix=".json") as report:
        watch.json_report(outfile=report.name)
        told: dict[str, Any] = json.load(report)
    return told


if __name__ == "__main__":
    name, *numbers = sys.argv[1:]
    first, count, wanted = (int(number) for number in numbers)
    sys.stdout.write(on_machine(Batch(name, first, count, covered=bool(wanted))).text())
