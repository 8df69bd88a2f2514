"""`make netlist`: block benches on the netlists of their hardware, as a table.

Usage: `python -m tb.fpga.netlist_run [--cells generic|ecp5] [--sim SIMULATOR] [BENCH ...]`. All benches on both kinds
of cells and both simulators without arguments. With one bench, one kind of cells and one simulator (`make sim
NETLIST=1`), cocotb's own table is shown.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from pymodels.errors import ConfigError, SanlabError, nearest
from pymodels.numerals import seed as seed_of
from tb.fpga.mapping import CELLS, check_cells
from tb.fpga.netlist import replaced
from tb.quality.check import WORKERS
from tb.report.terminal import status
from tb.run.block_bench import load, names, run_bench
from tb.run.simulate import Outcome
from tb.tools.ending import end_on_terminate
from tb.tools.paths import OUT, SIMULATORS


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
    try:
        if reason := load(name).no_netlist:
            return Row(name, cells, simulator, reason=reason)
        return run_one(name, cells, simulator, seed)
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
    apart, failed = len(row.outcome.apart), len(row.outcome.failures)
    passed = f"{row.outcome.tests - apart - failed} of {row.outcome.tests - apart}"
    return f"[red]{passed}[/]" if failed else passed, str(apart or "")


def lines(row: Row) -> Iterator[str]:
    """Yield what the table does not show: failures, messages of tools, tests that were set apart."""
    head = f"{row.bench}, {row.cells} cells, {row.simulator}"
    if row.failed:
        yield f"{head}: {row.failed}"
    if row.outcome:
        yield from (f"{head}: {failure}" for failure in row.outcome.failures)
        yield from (f"{head}: set apart, sleeping: {test}" for test in row.outcome.apart)


def main(argv: list[str] | None = None) -> int:
    """Run the command `make netlist`, or `make sim` with NETLIST, and return the exit code."""
    parser = argparse.ArgumentParser(prog="sanlab netlist", description=__doc__)
    parser.add_argument("bench", nargs="*", help="all when none is named; one of: " + ", ".join(names()))
    parser.add_argument("--cells", default="", help=" or ".join(CELLS) + "; 1: generic; both when none is named")
    parser.add_argument("--sim", default="", help=" or ".join(SIMULATORS) + "; both when none is named")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--waves", action="store_true")
    parser.add_argument("--echo", action="store_true", help="show cocotb's own table; one bench only")
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
    with status(Console(emoji=False), f"{len(jobs)} runs"), ThreadPoolExecutor(WORKERS) as pool:
        return list(pool.map(lambda job: tried(job[0], job[1], job[2], seed), jobs))


if __name__ == "__main__":
    end_on_terminate()
    sys.exit(main())
