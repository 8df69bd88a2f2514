"""`make pnr`: blocks placed and routed on an ECP5 (LFE5UM5G-85F), in a wrapper that registers their pins.

Usage: `python -m tb.fpga.pnr [--profile NAME] [BLOCK ...]`. It prints the Fmax of each clock, the clock that the
profile names, the goal of targets.toml, cells, and critical paths in words. Without BLOCK, it routes all blocks of
targets.toml, and writes routed.json and the table in tb/fpga/README.md; `--write BLOCK ...` writes the table with these
blocks alone, and the others as not routed. Results are cached by content; the seed is fixed.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from pymodels.errors import EXIT_CONFIGURATION
from pymodels.results import write_atomically
from tb.fpga import path, wrapper
from tb.fpga.mapping import READ, Block, read_command, worked
from tb.fpga.page import write_table
from tb.fpga.programs import ROUTER, make, versions
from tb.fpga.progress import each
from tb.fpga.targets import Target, find, targets
from tb.report.tables import Table
from tb.report.terminal import complain, exit_code, say, show
from tb.tools.programs import ToolError

SEED = 1
DEVICE = ("--um5g-85k", "--package", "CABGA756")
ROUTED = Path(__file__).with_name("routed.json")
"""Recorded clock rates: the first and the last one of each clock of each target."""
FILES = {"netlist": "net.json", "report": "report.json", "constraints": "clocks.lpf", "result": "result.json"}


@dataclass(frozen=True)
class Clock:
    """Clock of a routed block."""

    name: str
    mhz: float
    """Highest rate at which all paths are in time."""
    required: float | None
    """Rate that the profile names."""
    goal: float | None
    path: str
    """Critical path in words."""

    @property
    def met(self) -> bool:
        """True if the clock reaches its goal, or what the profile names where it has none."""
        return self.mhz >= (self.goal or self.required or 0)


@dataclass(frozen=True)
class Routed:
    """Routed block."""

    target: str
    clocks: tuple[Clock, ...]
    used: Mapping[str, int]
    """Cells used, by kind of nextpnr."""
    failed: str = ""
    """Why it could not be routed."""


def route(target: Target) -> Routed:
    """Place and route a target, or return the result from the cache."""
    given = wrapper.constants(target.block, target.loaded)
    try:
        found = wrapper.ports(_ports(target.block))
        top = wrapper.text(target.block, found, given)
        folder = worked("pnr", target.block, _script(target, found), {f"{wrapper.TOP}.sv": top}, _finish)
    except ToolError as error:
        return Routed(target.name, (), {}, error.cause)
    result = json.loads((folder / FILES["result"]).read_text(encoding="utf-8"))
    clocks = tuple(
        Clock(name, one["mhz"], target.required(name), target.goals.get(name), one["path"])
        for name, one in result["clocks"].items()
    )
    return Routed(target.name, clocks, result["used"])


def _ports(block: Block) -> Mapping[str, Any]:
    folder = worked(
        "ports",
        block,
        f"{read_command(block)}cd {block.module}\ndelete c:*\nopt_clean -purge\nwrite_json -selected ports.json\n",
    )
    modules: Mapping[str, Mapping[str, Any]] = json.loads((folder / "ports.json").read_text("utf-8"))["modules"]
    return next(iter(modules.values()))


def _script(target: Target, found: Sequence[wrapper.Port]) -> str:
    """Return the commands of Yosys; comments hold what nextpnr is given, which makes it part of the cache's key."""
    files = " ".join([*(one.name for one in target.block.files), f"{wrapper.TOP}.sv"])
    clocks = {port.clock for port in found}
    rates = {clock: target.goals.get(clock) or target.required(clock) or 100 for clock in sorted(clocks)}
    limits = [f'# FREQUENCY PORT "{clock}" {rate:.3f} MHZ;\n' for clock, rate in rates.items()]
    return "".join(
        [
            f"# {versions(ROUTER)} {' '.join(_arguments())}\n",
            *limits,
            READ.format(top=wrapper.TOP, parameters="", files=files),
            f"synth_ecp5 -abc9 -top {wrapper.TOP} -json {FILES['netlist']}\n",
        ]
    )


def _arguments() -> list[str]:
    files = ["--json", FILES["netlist"], "--lpf", FILES["constraints"], "--report", FILES["report"]]
    return [*DEVICE, *files, "--seed", str(SEED), "--timing-allow-fail", "--lpf-allow-unconstrained", "--quiet"]


def _finish(folder: Path) -> None:
    """Place and route the mapped wrapper in a folder, and leave the result alone."""
    script = (folder / "script.ys").read_text(encoding="utf-8")
    limits = [line.removeprefix("# ") for line in script.splitlines() if line.startswith("# FREQUENCY")]
    (folder / FILES["constraints"]).write_text("\n".join([*limits, ""]), encoding="utf-8")
    make(folder, ROUTER, _arguments(), FILES["report"], "`make synth` shows the size of the block")
    read = json.loads((folder / FILES["report"]).read_text(encoding="utf-8"))
    (folder / FILES["result"]).write_text(json.dumps(_result(read)), encoding="utf-8")
    for name in ("netlist", "report", "constraints"):
        (folder / FILES[name]).unlink()


def _result(report: Mapping[str, Any]) -> dict[str, Any]:
    words = {one.clock: one.said for one in path.paths(report)}
    rates = {path.clock_name(net): float(one["achieved"]) for net, one in report["fmax"].items()}
    used = {kind: int(one["used"]) for kind, one in report["utilization"].items() if one["used"]}
    clocks = {name: {"mhz": mhz, "path": words.get(name, "")} for name, mhz in sorted(rates.items())}
    return {"clocks": clocks, "used": used}


def table(found: Sequence[Routed]) -> Table:
    """Return the table of clock rates and cells."""
    rows = []
    for one in found:
        used = [str(one.used.get(kind, 0)) for kind in ("TRELLIS_COMB", "TRELLIS_FF", "DP16KD", "MULT18X18D")]
        for clock in one.clocks:
            rates = [
                f"{clock.mhz:.1f}",
                *("" if rate is None else f"{rate:.1f}" for rate in (clock.required, clock.goal)),
            ]
            rows.append((one.target, clock.name, *rates, *used, "" if clock.met else "below"))
        if one.failed:
            rows.append((one.target, "", *[""] * 7, "failed"))
    headings = ("block", "clock", "Fmax MHz", "profile", "goal", "LUTs", "flops", "block RAMs", "DSPs", "")
    return Table(headings, tuple(rows), words=2)


def record(found: Sequence[Routed]) -> dict[str, dict[str, dict[str, float]]]:
    """Write the rates of routed blocks beside the first recorded rates, and return all records."""
    records: dict[str, dict[str, dict[str, float]]] = json.loads(ROUTED.read_text(encoding="utf-8"))
    for one in found:
        for clock in one.clocks:
            known = records.setdefault(one.target, {}).setdefault(clock.name, {"first": round(clock.mhz, 1)})
            known["last"] = round(clock.mhz, 1)
    write_atomically(ROUTED, json.dumps(records, indent=1, sort_keys=True) + "\n")
    return records


def main(argv: list[str] | None = None) -> int:
    """Run the command `make pnr` and return the exit code."""
    parser = argparse.ArgumentParser(prog="sanlab pnr", description=__doc__)
    parser.add_argument("block", nargs="*", help="targets or modules; all targets when none is named")
    parser.add_argument("--profile", default="", help="hardware profile, instead of the target's own")
    parser.add_argument("--write", action="store_true", help="write the table of the page with these targets alone")
    options = parser.parse_args(argv)
    if options.write and options.profile:
        parser.error("--write records each target with its own profile: leave out --profile")
    names = [name for name in options.block if name]
    try:
        chosen = [find(name, options.profile) for name in names or targets()]
    except ToolError as error:
        complain(str(error))
        return EXIT_CONFIGURATION
    recorded = options.write or not (names or options.profile)
    return exit_code(lambda: _run(chosen, recorded), "routed blocks stay in the cache", "pnr")


def _run(chosen: Sequence[Target], recorded: bool) -> int:
    """Route the targets and print the results; if they are `recorded`, also write the rates and the page's table."""
    console = Console(emoji=False)
    found = each(console, chosen, lambda one: one.name, route)
    show(console, table(found))
    for routed in found:
        for clock in routed.clocks:
            say(console, f"{routed.target}, {clock.name}: {clock.path}")
        if routed.failed:
            say(console, f"{routed.target}: not routed: {routed.failed}")
    if recorded:
        missing = [Routed(name, (), {}, "not routed") for name in targets().keys() - {one.target for one in found}]
        shown = sorted([*found, *missing], key=lambda one: [*targets(), one.target].index(one.target))
        write_table([asdict(one) for one in shown], record(found), SEED)
    return 1 if any(one.failed for one in found) else 0


if __name__ == "__main__":
    sys.exit(main())
