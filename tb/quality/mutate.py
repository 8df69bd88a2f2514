"""`make mutants`: mutation testing of the sources, one small mistake at a time.

Usage: `python -m tb.quality.mutate [--seed S] [--first K] [--enables] FOLDER N`. It tries N mutants of a folder's
Python files or modules, selected by a seed, each in a copy of the tree. A Python mutant runs the tests of `covers.toml`
that reach it, a module its benches and its proof, until the first failure. Exit code 1 if a mutant survives that
`equivalent.toml` does not list, 2 if the tests fail without mutants.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from pymodels.errors import EXIT_CONFIGURATION, nearest
from pymodels.numerals import SEEDS, argument, is_whole
from pymodels.results import write_atomically
from tb.quality import mutants as of_modules
from tb.quality import python_mutants
from tb.quality.check import WORKERS
from tb.quality.mutants import Mutant
from tb.quality.trying import OUTCOMES, TREE, Change, Copy, Tried, Without, covering_tests
from tb.tools.paths import OUT, ROOT
from tb.tools.programs import ToolError

LEFT = OUT / "mutants.json"
"""File with the outcomes so far."""


def changes(folder: str, enables: bool = False) -> list[Change]:
    """Return all mutants of a folder; with `enables`, only those of clock enables. Raises ToolError if there
    are none.
    """
    top = ROOT / folder
    if not folder or not top.is_dir():
        known = [path.name for path in ROOT.iterdir() if path.is_dir() and path.name in TREE]
        raise ToolError(f"unknown folder {folder!r}", "FOLDER names a folder of the sources", nearest(folder, known))
    found: list[Change] = []
    for path in sorted(top.rglob("*")):
        name, find = path.relative_to(ROOT).as_posix(), _finder(path)
        if find is not None:
            text = path.read_text(encoding="utf-8")
            own = of_modules.of_enables(text, find(text)) if enables else find(text)
            found += [Change(name, mutant) for mutant in own]
    if not found:
        raise ToolError(
            f"no mutants in {folder!r}", "it has no sources covered by tests", "name firmware, pymodels or hdl"
        )
    return found


def _finder(path: Path) -> Callable[[str], list[Mutant]] | None:
    if path.suffix == ".py" and covering_tests(path.relative_to(ROOT).as_posix()):
        return python_mutants.mutants
    hardware = path.suffix == ".sv" and "sim" not in path.relative_to(ROOT).parts
    return of_modules.mutants if hardware and "\nmodule " in path.read_text(encoding="utf-8") else None


def run(chosen: Sequence[Change], workers: int, told: Callable[[Tried], None]) -> list[Tried]:
    """Try mutants with `workers` copies of the tree. Raises ToolError if a check fails without mutants."""
    without = Without()
    copies: Queue[Copy] = Queue()
    for number in range(workers):
        copies.put(Copy(OUT / "mutants" / str(number), without))

    def tried(change: Change) -> Tried:
        copy = copies.get()
        try:
            found = copy.tried(change)
        finally:
            copies.put(copy)
        told(found)
        return found

    try:
        with ThreadPoolExecutor(workers) as pool:
            return list(pool.map(tried, chosen))
    finally:
        for number in range(workers):
            shutil.rmtree(OUT / "mutants" / str(number), ignore_errors=True)


def report(found: Sequence[Tried], console: Console) -> None:
    """Print the table by folder, then the survivors."""
    table = Table("folder", "mutants", *OUTCOMES, "killed of those that differ", title="mutants", title_justify="left")
    for folder in [*sorted({one.change.folder for one in found}), ""]:
        own = [one for one in found if folder in ("", one.change.folder)]
        counts = [sum(one.outcome == name for one in own) for name in OUTCOMES]
        differ = len(own) - counts[OUTCOMES.index("equivalent")]
        share = f"{100 * (differ - counts[OUTCOMES.index('survived')]) / differ:.0f} %" if differ else ""
        table.add_row(folder or "all", str(len(own)), *map(str, counts), share)
    console.print(table)
    costs = [one for one in found if python_mutants.is_cost(one.change.mutant)]
    if costs:
        console.print(f"dropped costs: {len(costs)}, killed {sum(one.outcome == 'killed' for one in costs)}")
    for one in found:
        if one.outcome in ("survived", "endless"):
            by = f" ({one.by})" if one.by else ""
            console.print(f"{one.outcome}{by}: {escape(one.change.shown)}", highlight=False, soft_wrap=True)


def leave(found: Sequence[Tried]) -> None:
    """Write the outcomes as JSON."""
    told = [
        {"file": one.change.path, "mutant": one.change.shown, "outcome": one.outcome, "by": one.by} for one in found
    ]
    LEFT.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(LEFT, json.dumps(told, indent=1))


def main(argv: list[str] | None = None) -> int:
    """Run the command `make mutants` and return the exit code."""
    parser = argparse.ArgumentParser(prog="sanlab mutants", description=__doc__)
    parser.add_argument("folder", help="folder of Python or HDL sources: firmware/grim/nic, hdl/link")
    parser.add_argument("count", nargs="?", default="", help="number of mutants (default 20)")
    parser.add_argument("--seed", type=argument(0, SEEDS - 1), default=1, help="seed that selects the mutants")
    parser.add_argument("--first", type=argument(0, SEEDS), default=0, help="number of selected mutants to skip")
    parser.add_argument("--enables", action="store_true", help="only mutants of clock enables")
    parser.add_argument("--workers", type=argument(1, 1024), default=WORKERS, help="number of copies of the tree")
    options = parser.parse_args(argv)
    console, begun = Console(emoji=False), time.monotonic()
    try:
        count = _count(options.count)
        known = changes(options.folder.strip("/"), options.enables)
        random.Random(options.seed).shuffle(order := list(known))
        chosen = order[options.first : options.first + count]
        done: list[Tried] = []
        with console.status(f"{len(chosen)} mutants of {len(known)}") as status:

            def told(one: Tried) -> None:
                done.append(one)
                leave(done)
                status.update(f"{len(done)} of {len(chosen)} mutants")

            found = run(chosen, options.workers, told)
    except ToolError as error:
        print(error, file=sys.stderr)
        return EXIT_CONFIGURATION
    report(found, console)
    console.print(f"{len(found)} mutants of {len(known)}, {time.monotonic() - begun:.0f} s", highlight=False)
    return 1 if any(one.outcome == "survived" for one in found) else 0


def _count(text: str) -> int:
    if text and not (is_whole(text) and int(text)):
        raise ToolError(f"N is {text!r}", "invalid number of mutants", "give a whole number from 1 on")
    return int(text or 20)


if __name__ == "__main__":
    sys.exit(main())
