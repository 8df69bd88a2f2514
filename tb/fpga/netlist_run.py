"""`make netlist`: block benches on the netlists of their hardware, as a table.

Usage: `python -m tb.fpga.netlist_run [--cells generic|ecp5] [--sim SIMULATOR] [BENCH ...]`. All benches on both kinds
of cells and both simulators without arguments. With one bench, one kind of cells and one simulator (`make sim
NETLIST=1`), cocotb's own table is shown. With --write, the results go to netlists.json and to the table in
tb/fpga/README.md; other runs keep theirs.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from pymodels.errors import ConfigError, SanlabError, nearest
from pymodels.numerals import seed as seed_of
from pymodels.results import write_atomically
from tb.fpga.mapping import CELLS, check_cells
from tb.fpga.netlist import replaced
from tb.fpga.page import table_lines, write_part
from tb.fpga.progress import each
from tb.run.block_bench import load, names, run_bench
from tb.run.simulate import Outcome
from tb.tools.ending import end_on_terminate
from tb.tools.paths import OUT, SIMULATORS

RECORDED = Path(__file__).with_name("netlists.json")
"""Recorded results by bench, kind of cells and simulator."""


@dataclass(frozen=True)
class Row:
    """Bench on a kind of cells and a simulator, and what came of it."""

    bench: str
    cells: str
    simulator: str
    blocks: str = ""
    count: int = 0
    """Number of cells."""
    outcome: Outcome | None = None
    reason: str = ""
    """Why it was not run."""
    failed: str = ""
    """Message of a tool that failed."""
    seconds: float = 0.0
    """Wall time of mapping, build and tests; what is cached takes none."""

    @property
    def passed(self) -> bool:
        """True if no test has failed; also for a bench that says why it is not run."""
        return not self.failed and (self.outcome is None or self.outcome.passed)


def run_one(name: str, cells: str, simulator: str, seed: int = 1, waves: bool = False, echo: bool = False) -> Row:
    """Run a bench on netlists; results, log and waves go to sim_build/<bench>/<simulator>-<cells>.

    Args:
        name: Name of the bench.
        cells: Kind of cells.
        simulator: Name of the simulator.
        seed: Seed of cocotb's random numbers.
        waves: True to write waves.
        echo: True to copy the log to the terminal.

    Raises:
        ConfigError: Unknown bench or cells, or the bench has no netlist.
        ToolError: A block cannot be mapped, or the bench does not build.
    """
    made = replaced(load(name), cells)
    outcome = run_bench(made.bench, simulator, OUT / name / f"{simulator}-{cells}", seed, waves, echo)
    return Row(name, cells, simulator, ", ".join(one.shown for one in made.blocks), made.cells, outcome)


def tried(name: str, cells: str, simulator: str, seed: int) -> Row:
    """Run a bench on netlists; errors become parts of the row."""
    begun = time.monotonic()
    try:
        if reason := load(name).no_netlist:
            return Row(name, cells, simulator, reason=reason)
        return replace(run_one(name, cells, simulator, seed), seconds=time.monotonic() - begun)
    except SanlabError as error:
        return Row(name, cells, simulator, failed=str(error))


def table(rows: list[Row]) -> Table:
    """Return the table of all rows."""
    made = Table("bench", "block", "cells", "simulator", "passed", "set apart", title="netlists", title_justify="left")
    for row in rows:
        made.add_row(row.bench, row.blocks, f"{row.count} {row.cells}", row.simulator, *_counts(row))
    return made


def _counts(row: Row) -> tuple[str, str]:
    if row.outcome is None:
        return ("[red]failed[/]", "") if row.failed else ("not run", escape(row.reason))
    passed = _passed(row.outcome)
    return f"[red]{passed}[/]" if row.outcome.failures else passed, str(len(row.outcome.apart) or "")


def _passed(outcome: Outcome) -> str:
    """Return how many of the tests that were run have passed."""
    ran = outcome.tests - len(outcome.apart)
    return f"{ran - len(outcome.failures)} of {ran}"


def lines(row: Row) -> Iterator[str]:
    """Yield what the table does not show: failures, messages of tools, tests that were set apart."""
    head = f"{row.bench}, {row.cells} cells, {row.simulator}"
    if row.failed:
        yield f"{head}: {row.failed}"
    if row.outcome:
        yield from (f"{head}: {failure}" for failure in row.outcome.failures)
        yield from (f"{head}: set apart: {test}" for test in row.outcome.apart)


def record(rows: Sequence[Row]) -> None:
    """Write results beside those that are recorded for other runs, and the page's table of all."""
    records: dict[str, dict[str, dict[str, str]]] = json.loads(RECORDED.read_text(encoding="utf-8"))
    for row in rows:
        passed = "failed" if row.failed else "not run" if row.outcome is None else _passed(row.outcome)
        apart = len(row.outcome.apart) if row.outcome else 0
        shown = passed + (f", {apart} set apart" if apart else "") + (f", {row.seconds:.0f} s" if row.outcome else "")
        found = records.setdefault(row.bench, {}).setdefault(row.cells, {})
        found |= {row.simulator: shown, "cells": str(row.count or found.get("cells", ""))}
        if row.reason:
            found["reason"] = row.reason
    records = {name: records[name] for name in sorted(records.keys() & set(names()))}
    write_atomically(RECORDED, json.dumps(records, indent=1, sort_keys=True) + "\n")
    write_part("make netlist", f"{len(records)} of {len(names())} benches", page_lines(records))


def page_lines(records: Mapping[str, Mapping[str, Mapping[str, str]]]) -> Iterator[str]:
    """Yield the page's table of recorded results."""
    made = [
        (f"`{name}`", kind, *(found.get(one, "") for one in SIMULATORS), found.get("reason", ""), found["cells"])
        for name, kinds in records.items()
        for kind, found in kinds.items()
    ]
    yield from table_lines(("bench", "cells", *SIMULATORS, "reason", "number of cells"), made, words=5)


def main(argv: list[str] | None = None) -> int:
    """Run the command `make netlist`, or `make sim` with NETLIST, and return the exit code."""
    parser = argparse.ArgumentParser(prog="sanlab netlist", description=__doc__)
    parser.add_argument("bench", nargs="*", help="all when none is named; one of: " + ", ".join(names()))
    parser.add_argument("--cells", default="", help=" or ".join(CELLS) + "; 1: generic; both when none is named")
    parser.add_argument("--sim", default="", help=" or ".join(SIMULATORS) + "; both when none is named")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--waves", action="store_true")
    parser.add_argument("--echo", action="store_true", help="show cocotb's own table; one bench only")
    parser.add_argument("--write", action="store_true", help="write the results and the table of the page")
    options = parser.parse_args(argv)
    cells = "generic" if options.cells == "1" else options.cells
    try:
        if options.echo:
            return _echo(options, cells or "generic")
        rows = _all(options.bench or names(), [cells] if cells else list(CELLS), options)
    except SanlabError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    console = Console(emoji=False)
    console.print(table(rows))
    for row in rows:
        for line in lines(row):
            console.print(line, markup=False, highlight=False, soft_wrap=True)
    if options.write:
        record(rows)
    return 0 if all(row.passed for row in rows) else 1


def _echo(options: argparse.Namespace, cells: str) -> int:
    if len(options.bench) != 1 or not options.bench[0]:
        remedy = f"type `make sim BENCH=<name> NETLIST=1`; known: {', '.join(names())}"
        raise ConfigError("BENCH", 0, "no bench given", "`make sim` runs one block bench", remedy)
    row = run_one(options.bench[0], cells, options.sim, seed_of(options.seed), options.waves, echo=True)
    assert row.outcome
    print(f"{row.blocks}: {row.count} {cells} cells")
    for line in lines(row):
        print(line)
    folder = Path(os.path.relpath(row.outcome.log.parent))
    left = "results.xml, sim.log and waves.fst" if options.waves else "results.xml and sim.log"
    apart, failed = len(row.outcome.apart), len(row.outcome.failures)
    print(f"{row.outcome.tests} tests, {failed} failed, {apart} set apart; {left} in {folder}")
    return 0 if row.passed else 1


def _all(benches: list[str], kinds: list[str], options: argparse.Namespace) -> list[Row]:
    for kind in kinds:
        check_cells(kind)
    for name in benches:
        load(name)
    if options.sim and options.sim not in SIMULATORS:
        what = f"unknown simulator {options.sim!r}"
        raise ConfigError("SIM", 0, what, "it names the simulator", nearest(options.sim, SIMULATORS))
    simulators = [options.sim] if options.sim else SIMULATORS
    jobs = [(name, kind, simulator) for name in benches for kind in kinds for simulator in simulators]
    seed = seed_of(options.seed)
    return each(Console(emoji=False), jobs, ", ".join, lambda job: tried(*job, seed))


if __name__ == "__main__":
    end_on_terminate()
    sys.exit(main())
