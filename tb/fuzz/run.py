"""Command line `python -m tb.fuzz.run` of `make fuzz`: random programs of layers, from seeds, on all CPUs.

Exit codes: 0 no failure; 1 failures; 2 invalid input; 130 interrupted. Failures are shrunk, and printed with the
command that reproduces them.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from pymodels.errors import ConfigError, nearest
from pymodels.numerals import is_whole
from pymodels.profiles import DEFAULT_PROFILE, load_profile
from tb.fuzz import reach, trial
from tb.fuzz.batch import Batch, Found, run_batch
from tb.fuzz.descriptor import PLACES
from tb.fuzz.known import KNOWN, known
from tb.fuzz.program import Program, with_pauses
from tb.fuzz.shrink import SMALL, shrink, sort_of
from tb.plan.monitors import check_monitors, monitor_kinds
from tb.report.tables import Table
from tb.report.terminal import exit_code, is_live, say, show, status
from tb.sweep import farm
from tb.sweep.run import workers
from tb.sweep.work import Done
from tb.tools.ending import end_on_terminate
from tb.tools.paths import SIMULATORS

FIRMWARE = ("python", "c")
SEEDS = 500
"""Default number of seeds."""
MOST_SEEDS = 1 << 31
AT_ONCE = {"machine": 100, "rtl": 20}
"""Number of seeds in a batch."""
MOST_PAUSE_US = 1000
COVERED = 1000
"""Number of seeds of a layer whose coverage is recorded, which takes time."""
SHRUNK = 3
"""Maximum number of different failures of a layer that are shrunk."""
MACHINE_SECONDS, RTL_SECONDS = 25.0, 120
"""Time limits for shrinking a program on the machine and on the RTL."""


@dataclass
class Fuzz:
    """Fuzz test of one layer in progress."""

    layer: str
    first: int
    count: int
    place: str
    simulator: str
    in_c: bool = False
    """True if NICs of each program execute the layer's firmware in C."""
    pauses_us: int = 0
    """Maximum pause before each act."""
    profile: str = ""
    """Hardware profile on the RTL; empty for that of the layer's fuzz."""
    monitors: str = ""
    """Kinds of monitors on the RTL, separated by commas; a broken rule is a failure."""
    ran: int = 0
    failures: dict[int, list[str]] = field(default_factory=dict)
    arcs: reach.Arcs = field(default_factory=dict)
    seconds: float = 0.0

    def batches(self) -> list[Batch]:
        """Return all seeds in batches."""
        size = AT_ONCE[self.place]
        simulator = self.simulator if self.place == "rtl" else ""
        firsts = range(self.first, self.first + self.count, size)
        return [
            Batch(
                self.layer,
                first,
                min(size, self.first + self.count - first),
                simulator,
                not self.in_c and first - self.first < COVERED,
                self.in_c,
                pauses_us=self.pauses_us,
                profile=self.profile,
                monitors=self.monitors,
            )
            for first in firsts
        ]

    def ended(self, batch: Batch, done: Done) -> None:
        """Add the result of a batch."""
        self.ran += batch.count
        if done.failures:
            self.failures[batch.first] = list(done.failures)
            return
        found = Found.read(done.results)
        self.failures |= found.failures
        self.arcs = reach.together([self.arcs, found.arcs])

    def new(self) -> dict[int, list[str]]:
        """Return the failures that are not known."""
        return {seed: lines for seed, lines in self.failures.items() if known(self.layer, lines) is None}

    def sorts(self) -> dict[str, list[int]]:
        """Return the seeds by kind of failure, the most frequent first."""
        found: dict[str, list[int]] = {}
        for seed, lines in sorted(self.new().items()):
            found.setdefault(sort_of(lines[0]), []).append(seed)
        return dict(sorted(found.items(), key=lambda item: -len(item[1])))


def run_fuzz(fuzzes: Sequence[Fuzz], scheduler: str, most: int, console: Console) -> int:
    """Run the fuzz tests of all layers in turn, and return the exit code."""
    for fuzz in fuzzes:
        last = fuzz.first + fuzz.count - 1
        say(console, f"{fuzz.layer}: seeds {fuzz.first}..{last} on the {_where(fuzz)}")
        try:
            with farm.client(scheduler, most) as dask:
                _work(dask, fuzz, console)
        except KeyboardInterrupt:
            _tell(fuzz, _beside(fuzz, fuzzes), console, shrunk=0)
            raise
        _tell(fuzz, _beside(fuzz, fuzzes), console, SHRUNK)
    return 1 if any(fuzz.new() for fuzz in fuzzes) else 0


def _where(fuzz: Fuzz) -> str:
    place = f"RTL ({fuzz.simulator})" if fuzz.place == "rtl" else "machine"
    return place + ", firmware in C" * fuzz.in_c


def _work(dask: Any, fuzz: Fuzz, console: Console) -> None:
    """Run all batches, with a progress bar on a terminal."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("seeds{task.fields[found]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    begun = time.monotonic()
    with Progress(*columns, console=console, transient=True, disable=not is_live(console)) as bar:
        task = bar.add_task(fuzz.layer, total=fuzz.count, found="")

        def ended(batch: Batch, done: Done, again: bool) -> None:
            if not again:
                fuzz.ended(batch, done)
            fuzz.seconds = time.monotonic() - begun
            failed = f", {len(fuzz.new())} failed" if fuzz.new() else ""
            bar.update(task, completed=fuzz.ran, found=failed)

        farm.run(dask, fuzz.batches(), ended, run_batch)


def _beside(fuzz: Fuzz, fuzzes: Sequence[Fuzz]) -> list[Fuzz]:
    """Return the other fuzz tests that have run programs of the same firmware."""
    same = reach.firmware(fuzz.layer)
    return [one for one in fuzzes if one is not fuzz and one.arcs and reach.firmware(one.layer) == same]


def _tell(fuzz: Fuzz, beside: Sequence[Fuzz], console: Console, shrunk: int) -> None:
    """Show the results so far. The coverage includes that of the fuzz tests `beside`."""
    if not fuzz.ran:
        return
    rows = [("seeds", f"{fuzz.ran:,}"), ("seeds per second", f"{fuzz.ran / max(fuzz.seconds, 1e-9):.1f}")]
    rows.append(("failed", str(len(fuzz.new()))))
    rows += [(f"known: {one.says}", str(_met(fuzz, one.says))) for one in KNOWN if one.layer == fuzz.layer]
    if fuzz.arcs:
        rows += reach.rows(reach.together(one.arcs for one in (fuzz, *beside)), fuzz.layer)
        rows += [("  including the coverage of", one.layer) for one in beside]
    show(console, Table((fuzz.layer, _where(fuzz)), tuple(rows), words=1))
    for number, (sort, seeds) in enumerate(fuzz.sorts().items()):
        _tell_sort(fuzz, sort, seeds, console, number < shrunk)


def _met(fuzz: Fuzz, says: str) -> int:
    return sum(1 for lines in fuzz.failures.values() if re.search(says, lines[0]))


def _tell_sort(fuzz: Fuzz, sort: str, seeds: list[int], console: Console, shrinks: bool) -> None:
    """Show one kind of failure: its smallest program, and the command that reproduces it."""
    seed = seeds[0]
    say(console, "")
    say(console, f"{fuzz.layer}: {fuzz.failures[seed][0]}", "bold red")
    again = f"make fuzz LAYER={fuzz.layer} SEEDS={seed}..{seed}" + (" ON=rtl" if fuzz.place == "rtl" else "")
    again += " FIRMWARE=c" * fuzz.in_c
    again += f" PAUSES={fuzz.pauses_us}" * bool(fuzz.pauses_us)
    again += f" PROFILE={fuzz.profile}" * bool(fuzz.profile)
    again += f" MONITORS={fuzz.monitors}" * bool(fuzz.monitors)
    say(console, f"{len(seeds)} seeds: {', '.join(map(str, seeds[:8]))}; reproduce: {again}")
    small = ""
    if shrinks:
        with status(console, "shrinking"):
            small = (_small_on_rtl if fuzz.place == "rtl" else _small)(fuzz, seed, sort)
    say(console, "shrunk to:" if small else "program:")
    program, _ = trial.drawn(fuzz.layer, seed, trial.maker(fuzz.layer, fuzz.in_c))
    say(console, small or str(with_pauses(program, fuzz.pauses_us, seed)))


def _small(fuzz: Fuzz, seed: int, sort: str) -> str:
    """Return the shrunk program of a seed that fails on the machine; empty if it no longer fails."""

    def fails(tried: Program) -> bool:
        failures = trial.on_machine(fuzz.layer, with_pauses(tried, fuzz.pauses_us, seed)).failures
        return bool(failures) and sort_of(failures[0]) == sort

    make = trial.maker(fuzz.layer, fuzz.in_c)
    found = shrink(make, trial.drawn(fuzz.layer, seed, make)[1], fails, MACHINE_SECONDS)
    return str(with_pauses(found, fuzz.pauses_us, seed)) if found else ""


def _small_on_rtl(fuzz: Fuzz, seed: int, sort: str) -> str:
    """Return the shrunk program of a seed that fails on the RTL, from a simulation of its own; empty if it no longer
    fails.
    """
    one = replace(fuzz, first=seed, count=1).batches()[0]
    one = replace(one, covered=False, shrink=RTL_SECONDS)
    done = run_batch(one)
    lines = [] if done.failures else Found.read(done.results).failures.get(seed, [])
    again = bool(lines) and sort_of(lines[0]) == sort
    return "\n".join(line.removeprefix(SMALL) for line in lines if again and line.startswith(SMALL))


def chosen(
    layer: str,
    seeds: str,
    place: str,
    simulator: str,
    firmware: str = FIRMWARE[0],
    pauses: str = "",
    profile: str = "",
    monitors: str = "",
) -> list[Fuzz]:
    """Return the fuzz tests to run. Raises ConfigError for invalid arguments."""
    if place not in PLACES:
        remedy = nearest(place, PLACES)
        raise ConfigError("ON", 0, f"unknown place {place!r}", "ON selects where programs run", remedy)
    if simulator not in SIMULATORS:
        remedy = nearest(simulator, SIMULATORS)
        raise ConfigError("SIM", 0, f"unknown simulator {simulator!r}", "SIM selects the simulator", remedy)
    if firmware not in FIRMWARE:
        remedy = nearest(firmware, FIRMWARE)
        raise ConfigError("FIRMWARE", 0, f"unknown firmware {firmware!r}", "FIRMWARE selects what NICs execute", remedy)
    in_c = firmware == FIRMWARE[1]
    wanted = [layer] if layer else trial.names(in_c, place)
    for name in wanted:
        trial.maker(name, in_c)
        if place not in trial.places(name):
            raise ConfigError("ON", 0, f"{name} does not run on the {place}", "it needs hardware", "use ON=rtl")
    longest = _pauses(pauses)
    if longest and layer and not trial.takes_pauses(layer):
        what = f"programs of {layer} have no pauses"
        raise ConfigError("PAUSES", 0, what, f"PAUSES is {pauses!r}", "leave it out")
    if profile and place != "rtl":
        what = "the machine has no hardware profile"
        raise ConfigError("PROFILE", 0, what, f"PROFILE is {profile!r}", "use ON=rtl")
    if profile:
        trial.check_profile(layer, profile)
        wanted = [name for name in wanted if trial.runs_on(name, profile)]
    if monitors and place != "rtl":
        what = "the machine has no monitors"
        raise ConfigError("MONITORS", 0, what, f"MONITORS is {monitors!r}", "use ON=rtl")
    first, count = _seeds(seeds)
    return [
        Fuzz(
            name,
            first,
            count,
            place,
            simulator,
            in_c,
            longest if trial.takes_pauses(name) else 0,
            "" if trial.profile(name) else profile,
            _monitors(monitors, trial.profile(name) or profile or DEFAULT_PROFILE, strict=bool(layer)),
        )
        for name in wanted
    ]


def _monitors(text: str, profile: str, strict: bool) -> str:
    """Return the kinds of monitors in a text that exist for the NICs of a profile.

    Raises ConfigError for an unknown kind and, if `strict`, for a kind that does not exist for these NICs.
    """
    kinds, found = monitor_kinds(text), load_profile(profile)
    exists = {"doorbell": found.card.has_doorbells, "sram": found.nic.sram_ports is not None}
    if strict:
        check_monitors(text, True, *exists.values())
    return ",".join(kind for kind in kinds if exists.get(kind, True))


def _pauses(text: str) -> int:
    """Return the longest pause in us. Raises ConfigError unless it is a whole number from 0 to `MOST_PAUSE_US`."""
    if not text:
        return 0
    if not is_whole(text) or int(text) > MOST_PAUSE_US:
        remedy = f"give a whole number of microseconds from 0 to {MOST_PAUSE_US}"
        raise ConfigError("PAUSES", 0, "invalid pause", f"PAUSES is {text!r}", remedy)
    return int(text)


def _seeds(text: str) -> tuple[int, int]:
    """Return first seed and count: new seeds for a number, exactly the given ones for `first..last`."""
    ends = re.fullmatch(r"(\d+)\.\.(\d+)", text, re.ASCII)
    if ends:
        first, last = int(ends[1]), int(ends[2])
        if first <= last < MOST_SEEDS:
            return first, last - first + 1
    elif is_whole(text) and 0 < int(text) <= 1_000_000:
        return random.SystemRandom().randrange(MOST_SEEDS - 1_000_000), int(text)
    elif not text:
        return random.SystemRandom().randrange(MOST_SEEDS - 1_000_000), SEEDS
    remedy = f"give a number up to 1000000, or first..last below {MOST_SEEDS}"
    raise ConfigError("SEEDS", 0, "invalid seeds", f"SEEDS is {text!r}", remedy)


def main(argv: list[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    parser = argparse.ArgumentParser(prog="sanlab fuzz", description="Run random programs of message layers.")
    parser.add_argument(
        "--layer", default="", help="one of: " + ", ".join(trial.names(place="rtl")) + " (default: all)"
    )
    parser.add_argument("--seeds", default="", help=f"number of new seeds ({SEEDS}), or first..last")
    parser.add_argument("--on", default="", help="where programs run: machine (default) or rtl")
    parser.add_argument("--sim", default="verilator")
    parser.add_argument("--firmware", default="", help="firmware of the NICs: python (default) or c")
    parser.add_argument("--pauses", default="", help="longest pause before each act of a program, in us (0)")
    parser.add_argument("--profile", default="", help="on the RTL: the hardware profile (default: the layer's)")
    parser.add_argument(
        "--monitors", default="", help="on the RTL: kinds of monitors, such as pci,dma,sram,link (none)"
    )
    parser.add_argument(
        "--scheduler", default="", help="address of a Dask scheduler (default: started by this process)"
    )
    parser.add_argument(
        "--workers", default="", help="number of parallel batches on this machine (default: number of CPUs)"
    )
    words = parser.parse_args(argv)

    def fuzz() -> int:
        place = words.on or PLACES[0]
        firmware = words.firmware or FIRMWARE[0]
        given = words.pauses, words.profile, words.monitors
        fuzzes = chosen(words.layer, words.seeds, place, words.sim, firmware, *given)
        return run_fuzz(fuzzes, words.scheduler, workers(words.workers), Console(emoji=False))

    return exit_code(fuzz, "results found before the interrupt are above")


if __name__ == "__main__":
    end_on_terminate()
    sys.exit(main())
