"""Batch of consecutive seeds, the unit of work of a fuzz worker: in a process of its own on the machine, in one run on
the RTL.

`python -m tb.fuzz.batch LAYER FIRST COUNT COVERED IN_C PAUSES_US` runs seeds on the machine and prints the result as
JSON.
"""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import sys
import tempfile
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path

from rich.console import Console

from tb.fuzz import trial
from tb.fuzz.program import with_pauses
from tb.fuzz.reach import ARCS, Arcs, Watch, firmware
from tb.plan import studies
from tb.plan.monitors import MONITORS
from tb.plan.request import plan, resolve
from tb.run.command import execute
from tb.run.simulate import Outcome
from tb.sweep.work import Done
from tb.tools.paths import OUT, ROOT, SIMULATORS

WORK = OUT / "fuzz"
"""Working folder of simulators."""
STUDY = "tb.fuzz.rtl"


@dataclass(frozen=True)
class Batch:
    """Seeds of one layer. `simulator` is empty for the machine."""

    layer: str
    first: int
    count: int
    simulator: str = ""
    covered: bool = False
    """True to record the executed lines of the layer's firmware."""
    in_c: bool = False
    """True if NICs of each program execute the layer's firmware in C."""
    shrink: int = 0
    """Time limit in seconds for shrinking each failing program, on the RTL."""
    pauses_us: int = 0
    """Maximum pause before each act."""
    profile: str = ""
    """Hardware profile on the RTL; empty for that of the layer's fuzz."""
    monitors: str = ""
    """Kinds of monitors on the RTL, separated by commas."""

    @property
    def study(self) -> str:
        """Name of the study that the batch belongs to."""
        return f"fuzz-{self.layer}"


@dataclass
class Found:
    """Result of a batch."""

    failures: dict[int, list[str]] = field(default_factory=dict)
    """Failures by seed."""
    arcs: Arcs = field(default_factory=dict)

    @staticmethod
    def read(text: str) -> Found:
        """Return the result in a JSON text."""
        data = json.loads(text)
        failures = {int(seed): list(lines) for seed, lines in data["failures"].items()}
        return Found(failures, {name: [(a, b) for a, b in arcs] for name, arcs in data["arcs"].items()})

    def text(self) -> str:
        """Return the result as JSON."""
        return json.dumps({"failures": self.failures, "arcs": self.arcs})


def on_machine(batch: Batch) -> Found:
    """Run a batch on the machine, in this process."""
    found, watch = Found(), Watch(firmware(batch.layer))
    with watch if batch.covered else nullcontext():
        make = trial.maker(batch.layer, batch.in_c)
        for seed in range(batch.first, batch.first + batch.count):
            program, _ = trial.drawn(batch.layer, seed, make)
            paused = with_pauses(program, batch.pauses_us, seed)
            failures = trial.on_machine(batch.layer, paused).failures
            if failures:
                found.failures[seed] = list(failures)
    if batch.covered:
        found.arcs = watch.arcs()
    return found


def run_batch(batch: Batch) -> Done:
    """Run a batch, on the machine or on the RTL. Never raises an exception for a failure of a program."""
    return _simulated(batch) if batch.simulator else _calculated(batch)


def _calculated(batch: Batch) -> Done:
    numbers = batch.first, batch.count, int(batch.covered), int(batch.in_c), batch.pauses_us
    command = [sys.executable, "-m", "tb.fuzz.batch", batch.layer, *map(str, numbers)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", errors="replace", check=False)
    if ended.returncode:
        return Done(failures=(f"seeds from {batch.first}: {(ended.stderr.strip().splitlines() or ['died'])[-1]}",))
    return Done(ended.stdout)


def _simulated(batch: Batch) -> Done:
    WORK.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(dir=WORK, prefix=f"{batch.layer}-{batch.first}-"))
    try:
        settings = f"layer={batch.layer} first={batch.first} count={batch.count} shrink={batch.shrink}"
        settings += f" in_c={int(batch.in_c)} covered={int(batch.covered)} pauses_us={batch.pauses_us}"
        settings += f" {trial.settings(batch.layer)}" + f" {MONITORS}={batch.monitors}" * bool(batch.monitors)
        cluster, profile = trial.cluster(batch.layer), batch.profile or trial.profile(batch.layer)
        outcome = simulated(STUDY, batch.simulator, cluster, profile, settings, folder)
        failed = folder / "failures.txt"
        lines = failed.read_text(encoding="utf-8").splitlines() if failed.exists() else outcome.failures
        reached = folder / ARCS
        arcs = json.loads(reached.read_text(encoding="utf-8")) if reached.exists() else {}
        found = Found(_by_seed(lines), arcs)
        whole = outcome.tests and (found.failures or not outcome.failures)  # else it failed before or between seeds
        return Done(found.text()) if whole else Done(failures=tuple(outcome.failures))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def simulated(study: str, simulator: str, cluster: str, profile: str, settings: str, folder: Path) -> Outcome:
    """Run a study with seed 1 in a folder, without output. Empty `cluster` and `profile` select those of the study."""
    info = studies.load(study)
    request = resolve(study, simulator, "1", False, cluster or info.cluster or "", profile, settings, SIMULATORS)
    request = replace(request, folder=str(folder))
    return execute(request, info, plan(request, info), Console(file=io.StringIO(), emoji=False))


def _by_seed(lines: list[str]) -> dict[int, list[str]]:
    """Return the failures of the study by the seed at their beginning."""
    found: dict[int, list[str]] = {}
    for line in lines:
        head, _, rest = line.partition(": ")
        if head.startswith("seed "):
            found.setdefault(int(head.removeprefix("seed ")), []).append(rest)
    return found


if __name__ == "__main__":
    name, *numbers = sys.argv[1:]
    first, count, wanted, executes, pauses = (int(number) for number in numbers)
    given = Batch(name, first, count, covered=bool(wanted), in_c=bool(executes), pauses_us=pauses)
    sys.stdout.write(on_machine(given).text())
