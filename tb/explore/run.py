"""Command line `python -m tb.explore.run LAYER` of `make explore`: model checking of a layer's small worlds.

Exit code 0: every world keeps its guarantees in every state, or was not exhausted in its time, which is reported. 1: a
violation was found, and the schedule that shows it is printed. 2: unknown layer or world. 130: interrupted.
"""

from __future__ import annotations

import argparse
import importlib
import sys

from rich.console import Console
from rich.progress import Progress, TextColumn, TimeElapsedColumn

from pymodels.errors import ConfigError, nearest
from pymodels.numerals import real
from pymodels.roots import files_by_name
from tb.explore import proofs
from tb.explore.atlas import Atlas
from tb.explore.search import Search
from tb.explore.situation import Outcome
from tb.explore.story import sentences
from tb.explore.world import SmallWorld
from tb.report.tables import Table
from tb.report.terminal import exit_code, is_live, say, show
from tb.tools.ending import end_on_terminate

MINUTES = 5.0
"""Default time limit of one world."""
COLUMNS = ("world", "verdict", "situations", "transitions", "states", "nodes", "parts", "depth", "s", "processor s")


def layers() -> list[str]:
    """Return the names of the layers that have small worlds."""
    return list(files_by_name("tb/studies", "*/explore/worlds.py"))


def chosen(layer: str, name: str) -> list[SmallWorld]:
    """Return the worlds of a layer, or only the one with a name. Raises ConfigError for an unknown layer or world."""
    if layer not in layers():
        cause = f"{layer!r} has no small worlds" if layer else "not given"
        raise ConfigError("LAYER", 0, "unknown layer", cause, nearest(layer, layers()))
    found: list[SmallWorld] = importlib.import_module(f"tb.studies.{layer}.explore.worlds").worlds()
    if not name:
        return found
    if name not in (names := [world.name for world in found]):
        raise ConfigError("WORLD", 0, "unknown world", f"{layer} has no {name!r}", nearest(name, names))
    return [world for world in found if world.name == name]


def minutes(text: str) -> float:
    """Return the time limit of a world. Raises ConfigError for an invalid number."""
    try:
        value = real(text) if text else MINUTES
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise ConfigError(
            "MINUTES", 0, "invalid time limit", f"MINUTES is {text!r}", "give a number above 0, such as 5"
        )
    return value


def explore(world: SmallWorld, seconds: float, console: Console) -> tuple[Outcome, list[str]]:
    """Search one world; return the outcome, and the schedule of a violation as lines of text."""
    atlas = Atlas(world)
    columns = (TextColumn(f"{world.name}: {{task.description}}"), TimeElapsedColumn())
    try:
        with Progress(*columns, console=console, transient=True, disable=not is_live(console)) as bar:
            task = bar.add_task("starts", total=None)
            search = Search(world, atlas, lambda outcome: bar.update(task, description=progress(outcome)))
            outcome = search.run(seconds)
            search.unlimited()
            return outcome, list(sentences(search)) if outcome.wrong else []
    finally:
        atlas.close()


def progress(outcome: Outcome) -> str:
    """Return the progress of a search as text."""
    return f"{outcome.situations:,} situations, {sum(outcome.places):,} states of parts, depth {outcome.depth}"


def verdict(outcome: Outcome) -> str:
    """Return the verdict on a world as text; "proved" only if it was exhausted."""
    if outcome.interrupted:
        return "interrupted"
    expects = outcome.world.expects
    if expects:
        return "found, as it must" if expects in outcome.wrong else "NOT FOUND"
    if outcome.wrong:
        return "WRONG"
    return "proved" if outcome.exhausted else "not exhausted"


def row(outcome: Outcome) -> tuple[str, ...]:
    """Return the table row of a world."""
    numbers = (outcome.situations, outcome.transitions, outcome.states)
    nodes, parts = ("+".join(map(str, counts)) for counts in (outcome.nodes, outcome.places))
    return (
        outcome.world.name,
        verdict(outcome),
        *(f"{number:,}" for number in numbers),
        nodes,
        parts,
        str(outcome.depth),
        f"{outcome.seconds:.1f}",
        f"{outcome.processor_s:.1f}",
    )


def report(layer: str, found: list[SmallWorld], seconds: float, console: Console) -> int:
    """Search all worlds, show the results, and return the exit code. An interrupt is passed on after showing partial
    results.
    """
    rows: list[tuple[str, ...]] = []
    code = 0
    try:
        for world in found:
            say(console, f"{world.name}: {world.question}")
            outcome, story = explore(world, seconds, console)
            rows.append(row(outcome))
            if outcome.interrupted:
                raise KeyboardInterrupt
            proofs.keep(layer, outcome, verdict(outcome))
            say(console, f"    {verdict(outcome)}: {progress(outcome)}, {outcome.seconds:.0f} s")
            for line in story:
                say(console, line)
            if story:
                say(console, f"reproduce: make explore LAYER={layer} WORLD={world.name}")
            code |= verdict(outcome) in ("WRONG", "NOT FOUND")
    finally:
        if rows:
            say(console, "")
            show(console, Table(COLUMNS, tuple(rows), words=2))
    return code


def table(layer: str, console: Console) -> int:
    """Show the latest counts of all worlds of a layer, and return the exit code."""
    worlds = [(world.name, world.question) for world in chosen(layer, "")]
    for line in proofs.lines(worlds, proofs.kept(layer)):
        say(console, line)
    return 0


def main(argv: list[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    parser = argparse.ArgumentParser(
        prog="sanlab explore", description="Model-check the small worlds of a message layer."
    )
    parser.add_argument("--world", default="", help="name of the only world to search (default: all)")
    parser.add_argument("--minutes", default="", help=f"time limit of each world in minutes (default {MINUTES:g})")
    parser.add_argument("--table", action="store_true", help="print the latest counts in Markdown, without a search")
    parser.add_argument("layer", metavar="LAYER", help="a message layer")
    words = parser.parse_args(argv)

    def explored() -> int:
        if words.table:
            return table(words.layer, Console(emoji=False))
        worlds, seconds = chosen(words.layer, words.world), 60 * minutes(words.minutes)
        code = report(words.layer, worlds, seconds, Console(emoji=False))
        return code if words.world else table(words.layer, Console(emoji=False)) or code

    return exit_code(explored, "results found before the interrupt are above")


if __name__ == "__main__":
    end_on_terminate()
    sys.exit(main())
