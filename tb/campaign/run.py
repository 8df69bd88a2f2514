"""`python -m tb.campaign.run`: behind `make campaign`: single faults, and what they do to the messages of layers.

Exit codes: 0 done; 1 hosts waited for ever and nothing pointed at what was struck, or a message was delivered changed
where the protocol promises otherwise, or a simulation failed; 2 the input was refused before anything ran; 130
interrupted.
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
"""Faults of a layer on a kind of NIC, where nobody says how many."""
LEFT = OUT / "campaign" / "faults.json"


@dataclass
class Campaign:
    """What was found so far."""

    found: list[Ended] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def add(self, batch: Batch, done: Done, again: bool) -> None:
        """A batch has ended."""
        if done.failures and not again:
            self.failures += [f"{batch.study}, seeds from {batch.first}: {line}" for line in done.failures]
        elif not done.failures:
            self.found += ended(batch, done)

    @property
    def bad(self) -> bool:
        """Something failed, hung without a name, or broke what a protocol promises."""
        return bool(self.failures) or any(one.outcome == "hang" or one.broken for one in self.found)

    def of(self, layer: str, profile: str) -> list[Ended]:
        """Those of a layer on a kind of NIC, by seed."""
        own = [one for one in self.found if (one.layer, one.profile) == (layer, profile)]
        return sorted(own, key=lambda one: one.seed)


def table(heading: str, found: Sequence[Ended]) -> Table:
    """How many faults of each kind had which outcome. Outcomes that there are not have no column."""
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


def tell(campaign: Campaign, pairs: Sequence[tuple[str, str]], console: Console) -> None:
    """The tables, then what was silent, died, or hung without a name."""
    for layer, profile in pairs:
        found = campaign.of(layer, profile)
        if not found:
            continue
        say(console, "")
        show(console, table(f"{layer} on {profile}", found))
        for one in found:
            if one.outcome in SILENT:
                promised = ", promised otherwise" if one.broken else ""
                say(
                    console,
                    f"{one.outcome}{promised}: {one.fault}: {one.why}; would see it: {one.seen_by}; again: {one.again}",
                )
            elif one.outcome in ("hang", "dies"):
                say(console, f"{one.outcome}: {one.fault}: {one.why}; again: {one.again}")
    if len(campaign.found) == 1:
        one = campaign.found[0]
        say(console, "; ".join([f"{one.fault}: {one.outcome}", *filter(None, [one.why]), *one.told]))
    for line in campaign.failures:
        complain(line)


def seeds(text: str) -> tuple[int, int]:
    """First seed and how many: `first..last`, or so many from 0."""
    ends = re.fullmatch(r"(\d{1,9})\.\.(\d{1,9})", text, re.ASCII)
    if ends and int(ends[1]) <= int(ends[2]):
        return int(ends[1]), int(ends[2]) - int(ends[1]) + 1
    if re.fullmatch(r"[1-9]\d{0,5}", text or str(COUNT), re.ASCII):
        return 0, int(text or COUNT)
    raise ConfigError("SEEDS", 0, "not a number of seeds", f"SEEDS is {text!r}", "give a number, or first..last")


def chosen(layer: str, profile: str, simulator: str) -> list[tuple[str, str]]:
    """Layers and kinds of NIC. Raises ConfigError for a word that is none."""
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
    """Parse the command line and run the campaign; the exit code."""
    parser = argparse.ArgumentParser(prog="sanlab campaign", description="Run single faults and classify what they do.")
    parser.add_argument(
        "--layer", default="", help=f"one of: {', '.join(LAYERS)} (default: {' and '.join(DEFAULTS.layers)})"
    )
    parser.add_argument("--profile", default="", help=f"a profile (default: {' and '.join(DEFAULTS.profiles)})")
    parser.add_argument("--seeds", default="", help=f"so many from 0 ({COUNT}), or first..last; one fault each")
    parser.add_argument("--set", default="", help="settings, such as kinds=flip,drop")
    parser.add_argument("--sim", default="verilator")
    parser.add_argument("--scheduler", default="", help="address of a Dask scheduler (default: of this process)")
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
            tell(done, pairs, console)
            LEFT.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(LEFT, json.dumps([asdict(one) for one in done.found], indent=1))
            say(console, f"{len(done.found)} faults, {time.monotonic() - begun:.0f} s")
        return int(done.bad)

    return exit_code(campaign, "what was found before is above")


if __name__ == "__main__":
    end_on_terminate()
    sys.exit(main())
