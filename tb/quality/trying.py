"""Copy of the tree with one mutant at a time, and the checks that may kill it.

Checks are limited by CPU time, not by wall time, so that a busy machine kills no mutant. A check that fails with a
mutant must pass without it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import resource
import shutil
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import accumulate
from pathlib import Path
from typing import Any

from pymodels.toml import read_toml
from tb.build.store import found, kept
from tb.quality import idle, limits
from tb.quality.benches import TEST_SECONDS, ModuleCheck, module_checks
from tb.quality.check import LATE
from tb.quality.mutants import Mutant
from tb.quality.reached import CHOSEN, ENDLESS, REACHED, WATCHED, Reached, part_of, read_reached
from tb.tools.paths import OUT, ROOT, builds
from tb.tools.programs import ToolError

HERE = Path(__file__).parent
COVERS, EQUIVALENT = HERE / "covers.toml", HERE / "equivalent.toml"
TREE = ("pymodels", "firmware", "tb", "hdl", "tests", "README.md", "LICENSE", "Makefile", "pyproject.toml", ".ci")
"""Folders and files of a copy."""
PATIENCE, WATCHING, ROOM = 600, 3600, 8_000_000
"""CPU seconds of each program of a check, CPU seconds of a monitored run, address space in KB."""
PYTHON = ("firmware", "pymodels")
"""Folders with Python mutants."""
MINUTE = 60.0
"""Maximum CPU seconds (without the mutant) of all tests run for one mutant."""
SECONDS, TESTS = "seconds", "tests.json"
"""Names of the files with a check's duration and with the durations of a bench's tests."""
OUTCOMES = ("killed", "endless", "survived", "equivalent")
"""Outcomes of mutants. Endless: a test or a bench exceeded its CPU time, which also reveals the mutant."""
PYTEST = ("-x", "-q", "-n0", "-p", "no:cacheprovider", "-p", "tb.quality.reached", "--no-header", "--tb=no")


@dataclass(frozen=True)
class Change:
    """Mutant of a file; `path` is relative to the root."""

    path: str
    mutant: Mutant

    @property
    def folder(self) -> str:
        """Folder of the file."""
        return str(Path(self.path).parent)

    @property
    def shown(self) -> str:
        """Description for reports."""
        return f"{self.path}:{self.mutant.line}: {self.mutant.shown}"


@dataclass(frozen=True)
class Tried:
    """Mutant with its outcome."""

    change: Change
    outcome: str
    by: str = ""
    """Check that killed the mutant, or number of tests that reach it."""


def covering_tests(path: str) -> list[str]:
    """Return the test files for mutants of a Python file, in order; empty if none are declared."""
    begin = covered(path)
    return _matching(ROOT, covers(COVERS)[begin]) if begin else []


def covered(path: str) -> str:
    """Return the path prefix in `covers.toml` that matches a path; empty: none."""
    return max((one for one in covers(COVERS) if path.startswith(one)), key=len, default="")


@cache
def covers(path: Path) -> dict[str, tuple[str, ...]]:
    """Return the patterns of test files by path prefix, from `covers.toml`."""
    return {begin: tuple(patterns) for begin, patterns in read_toml(path)[0]["python"].items()}


@cache
def _matching(root: Path, patterns: tuple[str, ...]) -> list[str]:
    found = [file for pattern in patterns for file in sorted(root.glob(pattern))]
    return list(dict.fromkeys(file.relative_to(root).as_posix() for file in found))


def equivalent() -> dict[tuple[str, str], str]:
    """Return the reasons of equivalent mutants, by file and description."""
    table: dict[str, Any] = read_toml(EQUIVALENT)[0]
    return {(one["file"], one["mutant"]): one["reason"] for one in table.get("same", [])}


@dataclass
class Without:
    """Results without mutants, computed once for all copies."""

    _known: dict[tuple[str, ...], Any] = field(default_factory=dict)
    _locks: dict[tuple[str, ...], threading.Lock] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    one_at_a_time: threading.Lock = field(default_factory=threading.Lock)
    """Lock of the monitored test run, so that no file is monitored twice."""

    def get(self, key: Sequence[str], look: Callable[[], Any]) -> Any:
        """Return the cached result of `look` for a key."""
        with self._lock:
            lock = self._locks.setdefault(tuple(key), threading.Lock())
        with lock:
            if tuple(key) not in self._known:
                self._known[tuple(key)] = look()
            return self._known[tuple(key)]


def _together(tests: Mapping[str, float]) -> dict[str, float]:
    """Return the first tests that together take MINUTE without a mutant, at least one."""
    until = [seconds - last for last, seconds in zip(tests.values(), accumulate(tests.values()), strict=True)]
    return {test: tests[test] for test, before in zip(tests, until, strict=True) if before < MINUTE}


def _content(folder: Path, of: Callable[[Path], bool]) -> str:
    """Return a digest of selected files of a copy."""
    digest = hashlib.sha256()
    files = sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    for path in filter(of, files):
        digest.update(path.as_posix().encode() + (folder / path).read_bytes())
    return digest.hexdigest()


def _digest(*words: str) -> str:
    """Return a digest of the inputs of a check, for this Python."""
    return hashlib.sha256(repr((sys.version, *words)).encode()).hexdigest()[:16]


def _shared(path: Path) -> bool:
    """Return True for files that tests may depend on, other than their own file."""
    return path.suffix != ".md" and not path.name.startswith("test_")


def _of_benches(path: Path) -> bool:
    """Return True for files that benches and proofs may depend on."""
    return path.suffix != ".md" and (path.parts[0] != "tests" or path.parts[1] == "block")


def _take(left: Path, folder: Path) -> None:
    """Copy the coverage of a test file."""
    shutil.copy(left, folder / REACHED)


def _children_s() -> float:
    """Return the CPU seconds of all ended child processes."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Copy:
    """Copy of the tree."""

    def __init__(self, folder: Path, without: Without) -> None:
        self.folder, self._without = folder, without
        self._writes = 0
        shutil.rmtree(folder, ignore_errors=True)
        for name in TREE:
            source, target = ROOT / name, folder / name
            if source.is_dir():
                shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "sim_build"))
            elif source.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, target)
        self._of_benches, self._shared = _content(folder, _of_benches), _content(folder, _shared)

    def tried(self, change: Change) -> Tried:
        """Run the checks with a mutant and return the outcome. Raises ToolError if a check also fails without it."""
        outcome, by = (self._module if change.path.endswith(".sv") else self._python)(change)
        same = outcome == "survived" and (change.path, change.mutant.shown) in equivalent()
        return Tried(change, "equivalent" if same else outcome, by)

    def _python(self, change: Change) -> tuple[str, str]:
        files = covering_tests(change.path)
        reached: Reached = self._without.get(files, lambda: self._reach(files))
        text = self._text(change.path)
        tests = reached.tests(change.path, text, change.mutant.start)
        if not tests and covered(change.path) == change.path:  # executed only in child processes, which have no marks
            tests = reached.all()
        tests = _together(tests)
        chosen = self.folder / "chosen.json"
        chosen.write_text(json.dumps(tests), encoding="utf-8")
        own = list(dict.fromkeys(test.partition("::")[0] for test in tests))
        command = [sys.executable, "-m", "pytest", *PYTEST, *own]
        code = self._with(change, lambda: self._run(command, {CHOSEN: str(chosen)})[0]) if tests else 0
        outcome = {0: "survived", ENDLESS: "endless"}.get(code, "killed")
        return outcome, f"{len(tests)} tests"

    def _reach(self, files: Sequence[str]) -> Reached:
        """Return the coverage of test files. Each is monitored once for each content of the sources, and
        cached with the builds.
        """
        names = {file: f"reached-{_digest(self._shared, file, self._text(file))}" for file in files}
        with self._without.one_at_a_time:
            missing = [file for file, name in names.items() if found(name, builds()) is None]
            left = self.folder / "sim_build" / "reached"
            left.mkdir(parents=True, exist_ok=True)
            if missing:
                self._watch(missing, left)
            kept_at = [kept(name, partial(_take, left / part_of(file)), builds())[0] for file, name in names.items()]
        return read_reached(folder / REACHED for folder in kept_at)

    def _watch(self, files: Sequence[str], left: Path) -> None:
        command = [sys.executable, "-B", "-m", "pytest", *PYTEST, *files]
        variables = {
            REACHED: str(left),
            WATCHED: " ".join(PYTHON),
            "PYTHONPYCACHEPREFIX": str(self.folder / "sim_build" / "plain"),
        }
        code, said = self._run(command, variables, WATCHING)
        if code:
            failed = re.findall(r"^(?:FAILED|ERROR) (\S+)", said, re.MULTILINE)
            raise ToolError(f"{' '.join(failed) or 'the tests'} fails without any mutant", "correct it first", "")

    def _module(self, change: Change) -> tuple[str, str]:
        for check in module_checks(Path(change.path).stem):
            took = self._took(check) if check.bench else None
            code, said = self._with(change, partial(self._check, check, took))
            if code and LATE not in said:
                if took is None:
                    self._took(check)
                return "killed", check.name
        return "survived", ""

    def _took(self, check: ModuleCheck) -> Path:
        """Return the folder with a check's durations without mutants: SECONDS, and the TESTS of a bench.

        The check is measured once for each content of its inputs. Raises ToolError if it fails then.
        """
        name = f"took-{_digest(self._of_benches, *check.command)}"
        return Path(self._without.get(check.command, lambda: kept(name, partial(self._measure, check), builds())[0]))

    def _measure(self, check: ModuleCheck, scratch: Path) -> None:
        begun = _children_s()
        if self._check(check, scratch)[0]:
            raise ToolError(f"the {check.name} fails without any mutant", "correct it first", "")
        (scratch / SECONDS).write_text(str(_children_s() - begun), encoding="utf-8")

    def _check(self, check: ModuleCheck, took: Path | None) -> tuple[int, str]:
        """Return exit code and output of a check; a bench reads or writes the durations of its tests in `took`."""
        if not check.bench or took is None:
            return self._run(check.command, check.variables)
        known = took / SECONDS
        took_s = float(known.read_text(encoding="utf-8")) if known.exists() else None
        patience = PATIENCE if took_s is None else int(limits.BENCH.limit_for(took_s))
        kept_at = {"SANLAB_BUILDS": str(OUT / "mutants" / "builds"), TEST_SECONDS: str(took / TESTS)}
        return self._run(check.command, {**check.variables, **kept_at}, patience)

    def _text(self, path: str) -> str:
        return (self.folder / path).read_text(encoding="utf-8")

    def _with(self, change: Change, work: Callable[[], Any]) -> Any:
        """Execute `work` while the mutant is in its file."""
        path, text = self.folder / change.path, self._text(change.path)
        self._write(path, change.mutant.apply_to(text))
        try:
            return work()
        finally:
            self._write(path, text)

    def _write(self, path: Path, text: str) -> None:
        """Write a text with a unique time, since Python's bytecode cache depends on time and size."""
        path.write_text(text, encoding="utf-8")
        self._writes += 1
        os.utime(path, (self._writes, self._writes))

    def _run(
        self, command: Sequence[str], variables: Mapping[str, str] | None = None, patience: int = PATIENCE
    ) -> tuple[int, str]:
        """Return exit code and output of a check."""
        environment = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}
        environment |= {
            "SANLAB_OUT": str(self.folder / "sim_build"),
            "SANLAB_BUILDS": str(builds()),
            "PYTHONPYCACHEPREFIX": str(self.folder / "sim_build" / "compiled"),
            "PYTHONPATH": str(HERE.parents[1]),
            "SANLAB_EVERY_CASE": "1",
            **(variables or {}),
        }
        limits = f'ulimit -t {patience} -v {ROOM}; exec "$@"'
        return idle.run(["sh", "-c", limits, "sh", *command], self.folder, environment, ENDLESS)
