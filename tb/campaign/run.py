"""`make campaign` (`python -m tb.campaign.run`): single faults and their effects on the messages of layers.

Exit codes: 0 done; 1 for an unexplained hang, an undetected wrong message that the protocol excludes, or a failed
simulation; 2 for invalid input; 130 interrupted.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

from rich.console import Console

from pymodels.errors import ConfigError, nearest
from pymodels.results import write_atomically
from tb.campaign.batch import Batch, Ended, batches, ended, run_batch
from tb.campaign.defaults import DEFAULTS
from tb.campaign.judge import OUTCOMES, SILENT
from tb.campaign.rtl import LAYERS
from tb.plan.faults import KINDS
from tb.report.tables import Table
from tb.report.terminal import complain, exit_code, say, show
from tb.sweep import farm
from tb.sweep.run import workers
from tb.sweep.work import Done
from tb.tools.ending import end_on_terminate
from tb.tools.paths import OUT, SIMULATORS

COUNT = 500
"""Default number of faults for a layer on a NIC kind."""
LEFT = OUT / "campaign" / "faults.json"


@dataclass
class Campaign:
    """Results so far."""

    found: list[Ended] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def add(self, batch: Batch, done: Done, again: bool) -> None:
        """Add the results of a batch, or its failures if it will not be repeated."""
        if done.failures and not again:
            self.failures += [f"{batch.study}, seeds from {batch.first}: {line}" for line in done.failures]
        elif not done.failures:
            self.found += ended(batch, done)

    @property
    def bad(self) -> bool:
        """True after a failure, an unexplained hang, or a violated promise of a protocol."""
        return bool(self.failures) or any(one.outcome == "hang" or one.broken for one in self.found)

    def faults_of(self, layer: str, profile: str) -> list[Ended]:
        """Return the faults of a layer on a profile, by seed."""
        own = [one for one in self.found if (one.layer, one.profile) == (layer, profile)]
        return sorted(own, key=lambda one: one.seed)


def table(heading: str, found: Sequence[Ended]) -> Table:
    """Return the counts of faults by kind and outcome; outcomes without faults have no column."""
    counts = Counter((one.kind, one.outcome) for one in found)
    outcomes = [name for name in OUTCOMES if any(one.outcome == name for one in found)]
    kinds = [kind for kind in KINDS if any(one.kind == kind for one in found)]
    rows = [
        (KINDS[kind].layer, kind, *(str(counts[kind, name] or "") for name in outcomes), str(_of(found, kind)))
        for kind in kinds
    ]
    sums = [str(sum(one.outcome == name for one in found)) for name in outcomes]
    return Table((heading, "fault", *outcomes, "all"), (*rows, ("all", "", *sums, str(len(found)))), words=2)


def _of(found: Sequence[Ended], kind: str) -> int:
    return sum(one.kind == kind for one in found)


def print_outcomes(campaign: Campaign, pairs: Sequence[tuple[str, str]], console: Console) -> None:
    """Print the tables, then each silent, deadly or unexplained fault."""
    for layer, profile in pairs:
        found = campaign.faults_of(layer, profile)
        if not found:
            continue
        say(console, "")
        show(console, table(f"{layer} on {profile}", found))
        for one in found:
            if one.outcome in SILENT:
                promised = ", against the protocol's promise" if one.broken else ""
                said = f"{one.outcome}{promised}: {one.fault}: {one.why}; detectable by {one.seen_by}"
                say(console, f"{said}; repeat: {one.again}")
            elif one.outcome in ("hang", "dies"):
                say(console, f"{one.outcome}: {one.fault}: {one.why}; repeat: {one.again}")
    if len(campaign.found) == 1:
        one = campaign.found[0]
        say(console, "; ".join([f"{one.fault}: {one.outcome}", *filter(None, [one.why]), *one.told]))
    for line in campaign.failures:
        complain(line)


def seeds(text: str) -> tuple[int, int]:
    """Return the first seed and the number of seeds. Accepts `first..last`, or a number of seeds from 0 on."""
    ends = re.fullmatch(r"(\d{1,9})\.\.(\d{1,9})", text, re.ASCII)
    if ends and int(ends[1]) <= int(ends[2]):
        return int(ends[1]), int(ends[2]) - int(ends[1]) + 1
    if re.fullmatch(r"[1-9]\d{0,5}", text or str(COUNT), re.ASCII):
        return 0, int(text or COUNT)
    raise ConfigError("SEEDS", 0, "invalid seeds", f"SEEDS is {text!r}", "give a number, or first..last")


def chosen(layer: str, profile: str, simulator: str) -> list[tuple[str, str]]:
    """Return the pairs of layer and profile to run. Raises ConfigError for an unknown layer or simulator."""
    if layer and layer not in LAYERS:
        raise ConfigError("LAYER", 0, f"unknown layer {layer!r}", "LAYER names one with mail", nearest(layer, LAYERS))
    if simulator not in SIMULATORS:
        remedy = nearest(simulator, SIMULATORS)
        raise ConfigError("SIM", 0, f"unknown simulator {simulator!r}", "SIM names the simulator", remedy)
    return [
        (one, nic)
        for one in ([layer] if layer else DEFAULTS.layers)
        for nic in ([profile] if profile else DEFAULTS.profiles)
    ]


def main(argv: list[str] | None = None) -> int:
    """Parse the command line, run the campaign, and return the exit code."""
    parser = argparse.ArgumentParser(prog="sanlab campaign", description="Run single faults and classify what they do.")
    parser.add_argument(
        "--layer", default="", help=f"one of: {', '.join(LAYERS)} (default: {' and '.join(DEFAULTS.layers)})"
    )
    parser.add_argument("--profile", default="", help=f"a profile (default: {' and '.join(DEFAULTS.profiles)})")
    parser.add_argument(
        "--seeds", default="", help=f"number of seeds from 0 on (default: {COUNT}), or first..last; one fault each"
    )
    parser.add_argument("--set", default="", help="settings, such as kinds=flip,drop")
    parser.add_argument("--sim", default="verilator")
    parser.add_argument("--scheduler", default="", help="address of a Dask scheduler (default: one in this process)")
    parser.add_argument("--workers", default="", help="simulations at a time on this machine (default: its processors)")
    words = parser.parse_args(argv)
    console = Console(emoji=False)

    def campaign() -> int:
        pairs = chosen(words.layer, words.profile, words.sim)
        first, count = seeds(words.seeds)
        points = [one for pair in pairs for one in batches(*pair, first, count, words.sim, words.set)]
        done, begun = Campaign(), time.monotonic()
        try:
            with farm.client(words.scheduler, workers(words.workers)) as dask:
                farm.run(dask, points, done.add, run_batch)
        finally:
            print_outcomes(done, pairs, console)
            LEFT.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(LEFT, json.dumps([asdict(one) for one in done.found], indent=1))
            say(console, f"{len(done.found)} faults, {time.monotonic() - begun:.0f} s")
        return int(done.bad)

    return exit_code(campaign, "the results so far are above")


if __name__ == "__main__":
    end_on_terminate()
    sys.exit(main())
