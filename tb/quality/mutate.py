"""`make mutants`: small mistakes put into the sources, one at a time, and whether the tests see them.

Usage: `python -m tb.quality.mutate [--seed S] [--enables] FOLDER N`. N mutants of the Python files or of the modules of
a folder, chosen by a seed, each in a copy of the tree, never in the tree itself. Python is run by the tests of
`covers.toml`, a module by its proof and its benches, until the first that fails. Exit code 1 when one survives that is
not listed in `equivalent.toml`, 2 when the tests fail without any mutant.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from pymodels.errors import EXIT_CONFIGURATION, nearest
from pymodels.toml import read_toml
from tb.build.build import Design, needed_files
from tb.quality import mutants as of_modules
from tb.quality import python_mutants
from tb.quality.check import WORKERS
from tb.quality.mutants import Mutant
from tb.quality.proofs import proofs
from tb.tools.paths import OUT, ROOT, builds
from tb.tools.programs import ToolError

HERE = Path(__file__).parent
COVERS, EQUIVALENT = HERE / "covers.toml", HERE / "equivalent.toml"
TREE = ("pymodels", "firmware", "tb", "hdl", "tests", "README.md", "LICENSE", "Makefile", "pyproject.toml", ".ci")
"""What a copy has."""
BENCHES = ROOT / "tests" / "block" / "benches"
PATIENCE = 600
"""Seconds of a processor for the tests of a mutant: one that takes more runs for ever."""
FEW = 4
"""Benches for a mutant: each is a build of its own."""
OUTCOMES = ("killed", "survived", "equivalent")


@dataclass(frozen=True)
class Change:
    """A mutant of a file; `path` from the root."""

    path: str
    mutant: Mutant

    @property
    def folder(self) -> str:
        """Of the file."""
        return str(Path(self.path).parent)

    @property
    def shown(self) -> str:
        """For reports."""
        return f"{self.path}:{self.mutant.line}: {self.mutant.shown}"


@dataclass(frozen=True)
class Tried:
    """A mutant, and how it went."""

    change: Change
    outcome: str
    by: str = ""
    """What has seen it."""


def changes(folder: str, enables: bool = False) -> list[Change]:
    """All mutants of a folder; with `enables` those of statements that say whether a clock goes on. ToolError when
    there is none.
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
            f"no mutants in {folder!r}", "it has no sources that tests cover", "name firmware, pymodels, hdl"
        )
    return found


def _finder(path: Path) -> Callable[[str], list[Mutant]] | None:
    if path.suffix == ".py" and covering_tests(path.relative_to(ROOT).as_posix()):
        return python_mutants.mutants
    hardware = path.suffix == ".sv" and path.relative_to(ROOT).parts[:2] != ("hdl", "sim")
    return of_modules.mutants if hardware and "\nmodule " in path.read_text(encoding="utf-8") else None


def covering_tests(path: str) -> list[str]:
    """The test files that see a mutant of a Python file, in their order; none when nobody has said."""
    table = covers(COVERS)
    begins = [one for one in table if path.startswith(one)]
    return _matching(ROOT, table[max(begins, key=len)]) if begins else []


@cache
def covers(path: Path) -> dict[str, tuple[str, ...]]:
    """What `covers.toml` says: patterns of test files by the beginning of a path."""
    return {begin: tuple(patterns) for begin, patterns in read_toml(path)[0]["python"].items()}


@cache
def _matching(root: Path, patterns: tuple[str, ...]) -> list[str]:
    found = [file for pattern in patterns for file in sorted(root.glob(pattern))]
    return list(dict.fromkeys(file.relative_to(root).as_posix() for file in found))


def benches_of(module: str) -> list[str]:
    """The benches whose design has a module, FEW at most: those with it at the top first, then the smaller designs."""
    found: list[tuple[bool, int, str]] = []
    for path in sorted(BENCHES.glob("*.toml")):
        top = str(read_toml(path)[0]["toplevel"])
        files = needed_files(Design(top))
        if any(file.stem == module for file in files):
            found.append((top != module, len(files), path.stem))
    return [name for _, _, name in sorted(found)][:FEW]


def equivalent() -> dict[tuple[str, str], str]:
    """The reasons of mutants that do the same, by file and how they are shown."""
    table: dict[str, Any] = read_toml(EQUIVALENT)[0]
    return {(one["file"], one["mutant"]): one["reason"] for one in table.get("same", [])}


class Copy:
    """A copy of the tree, in which one mutant at a time stands."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.rmtree(folder, ignore_errors=True)
        for name in TREE:
            source, target = ROOT / name, folder / name
            if source.is_dir():
                shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "sim_build"))
            elif source.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, target)

    def tried(self, change: Change) -> Tried:
        """How the tests go with a mutant."""
        path = self.folder / change.path
        text = path.read_text(encoding="utf-8")
        path.write_text(change.mutant.of(text), encoding="utf-8")
        try:
            by = self.seen_by(change.path)
        finally:
            path.write_text(text, encoding="utf-8")
        if by:
            return Tried(change, "killed", by)
        same = (change.path, change.mutant.shown) in equivalent()
        return Tried(change, "equivalent" if same else "survived")

    def seen_by(self, path: str) -> str:
        """The first check of a file that fails; empty when none does."""
        commands = _module_checks(Path(path).stem) if path.endswith(".sv") else _python_checks(path)
        return next((name for name, command in commands if self._fails(command)), "")

    def _fails(self, command: Sequence[str]) -> bool:
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "SANLAB_OUT": str(self.folder / "sim_build")}
        environment["SANLAB_BUILDS"] = str(OUT / "mutants" / "builds" if "sim" in command else builds())
        limited = ["sh", "-c", f'ulimit -t {PATIENCE}; exec "$@"', "sh", *command]
        ended = subprocess.run(limited, cwd=self.folder, env=environment, capture_output=True, check=False)
        return ended.returncode != 0


def _python_checks(path: str) -> list[tuple[str, list[str]]]:
    """All its tests in one process: they share what they import."""
    options = ["-x", "-q", "-n0", "-p", "no:cacheprovider", "--no-header", "--tb=no"]
    return [("tests", [sys.executable, "-m", "pytest", *options, *covering_tests(path)])]


def _module_checks(module: str) -> list[tuple[str, list[str]]]:
    """Its proofs, which take seconds, then its benches on Verilator."""
    proved = [("proof", [sys.executable, "-m", "tb.quality.prove", module])] if _proved(module) else []
    tb = [sys.executable, "-m", "tb.sanlab", "sim", "--sim=verilator", "--seed=1", "--"]
    return [*proved, *((f"bench {name}", [*tb, name]) for name in benches_of(module))]


def _proved(module: str) -> bool:
    return any(one.block == module for one in proofs())


def run(chosen: Sequence[Change], workers: int, told: Callable[[Tried], None]) -> list[Tried]:
    """All of them, so many at a time. ToolError when the checks of a file fail without any mutant."""
    copies = [Copy(OUT / "mutants" / str(number)) for number in range(workers)]
    free, lock = list(copies), threading.Lock()

    def with_copy(work: Callable[[Copy], Any]) -> Any:
        with lock:
            copy = free.pop()
        try:
            return work(copy)
        finally:
            with lock:
                free.append(copy)

    def tried(change: Change) -> Tried:
        found: Tried = with_copy(lambda copy: copy.tried(change))
        told(found)
        return found

    groups = {tuple(covering_tests(one.path)) or (one.path,): one.path for one in chosen}
    try:
        with ThreadPoolExecutor(workers) as pool:
            before = pool.map(lambda path: with_copy(lambda copy: copy.seen_by(path)), groups.values())
            for path, by in zip(groups.values(), before, strict=True):
                if by:
                    raise ToolError(f"the {by} of {path} fail without any mutant", "mend that first", "run make test")
            return list(pool.map(tried, chosen))
    finally:
        for copy in copies:
            shutil.rmtree(copy.folder, ignore_errors=True)


def report(found: Sequence[Tried], console: Console) -> None:
    """The table by folder, then the survivors."""
    table = Table("folder", "mutants", *OUTCOMES, "killed of those that differ", title="mutants", title_justify="left")
    for folder in [*sorted({one.change.folder for one in found}), ""]:
        own = [one for one in found if folder in ("", one.change.folder)]
        counts = [sum(one.outcome == name for one in own) for name in OUTCOMES]
        differ = len(own) - counts[2]
        share = f"{100 * counts[0] / differ:.0f} %" if differ else ""
        table.add_row(folder or "all", str(len(own)), *map(str, counts), share)
    console.print(table)
    costs = [one for one in found if python_mutants.is_cost(one.change.mutant)]
    if costs:
        console.print(f"dropped costs: {len(costs)}, killed {sum(one.outcome == 'killed' for one in costs)}")
    for one in found:
        if one.outcome == "survived":
            console.print(f"survived: {escape(one.change.shown)}", highlight=False, soft_wrap=True)


def main(argv: list[str] | None = None) -> int:
    """The command behind `make mutants`; the exit code."""
    parser = argparse.ArgumentParser(prog="sanlab mutants", description=__doc__)
    parser.add_argument("folder", help="of Python or of hardware: firmware/nic/grim, hdl/link")
    parser.add_argument("count", nargs="?", default="", help="so many mutants (20)")
    parser.add_argument("--seed", type=int, default=1, help="chooses them")
    parser.add_argument("--enables", action="store_true", help="only in statements that say whether a clock goes on")
    parser.add_argument("--workers", type=int, default=WORKERS, help="copies of the tree at a time")
    options = parser.parse_args(argv)
    console, begun = Console(), time.monotonic()
    try:
        count = _count(options.count)
        known = changes(options.folder.strip("/"), options.enables)
        chosen = random.Random(options.seed).sample(known, min(count, len(known)))
        done: list[Tried] = []
        with console.status(f"{len(chosen)} mutants of {len(known)}") as status:

            def told(one: Tried) -> None:
                done.append(one)
                status.update(f"{len(done)} of {len(chosen)} mutants")

            found = run(chosen, options.workers, told)
    except ToolError as error:
        print(error, file=sys.stderr)
        return EXIT_CONFIGURATION
    report(found, console)
    console.print(f"{len(found)} mutants of {len(known)}, {time.monotonic() - begun:.0f} s", highlight=False)
    return 1 if any(one.outcome == "survived" for one in found) else 0


def _count(text: str) -> int:
    if text and not (text.isdecimal() and int(text)):
        raise ToolError(f"N is {text!r}", "it is no number of mutants", "give a whole number from 1 on")
    return int(text or 20)


if __name__ == "__main__":
    sys.exit(main())
