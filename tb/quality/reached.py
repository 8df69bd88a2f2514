"""Pytest plugin that records which tests reach which source lines, and their durations (`-p tb.quality.reached`).

A mutant is run only by the tests that reach it, quickest first. With SANLAB_REACHED, the plugin monitors a test run and
writes, for each test file, which statements of the folders SANLAB_WATCHED the tests execute; these sources are compiled
with a mark before each statement. With SANLAB_CHOSEN, it runs only the tests of that file in order; a test that exceeds
its time limit ends the run with exit code ENDLESS.
"""

from __future__ import annotations

import ast
import json
import os
import signal
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any

import pytest

from tb.quality import limits

REACHED, WATCHED, CHOSEN = "SANLAB_REACHED", "SANLAB_WATCHED", "SANLAB_CHOSEN"
"""Environment variables: output folder; monitored folders, separated by spaces; file with selected tests and
their seconds.
"""
ENDLESS = 97
"""Exit code of a run with a test that did not end."""


@dataclass(frozen=True)
class Reached:
    """Coverage of a test run."""

    seconds: Mapping[str, float]
    """CPU seconds by test."""
    lines: Mapping[str, Mapping[int, Sequence[str]]]
    """Tests by file (path from the root) and first line of the executed statement."""
    marked: Mapping[str, Sequence[int]]
    """First lines of statements that only tests execute, by file: those in functions that no import calls."""

    def tests(self, path: str, text: str, place: int) -> dict[str, float]:
        """Return the tests that execute the statement at a position of a file's text, quickest first.

        Any test may depend on a statement that an import executes. For such a statement, tests that execute any part of
        the file come first, then all others.
        """
        own, line = self.lines.get(path, {}), _statement(text, place)
        near = {test for tests in own.values() for test in tests}
        if line in self.marked.get(path, ()):
            return self._in_order(own.get(line, ()))
        return self._in_order(own.get(line, ())) | self._in_order(near) | self._in_order(self.seconds)

    def all(self) -> dict[str, float]:
        """Return all tests, quickest first."""
        return self._in_order(self.seconds)

    def _in_order(self, tests: Iterable[str]) -> dict[str, float]:
        return {test: self.seconds[test] for test in sorted(tests, key=lambda one: (self.seconds[one], one))}


def _statement(text: str, place: int) -> int:
    """Return the first line of the innermost statement at a position."""
    line = text.count("\n", 0, place) + 1
    nodes = [one for one in ast.walk(ast.parse(text)) if isinstance(one, ast.stmt)]
    return max(one.lineno for one in nodes if one.lineno <= line <= (one.end_lineno or one.lineno))


def part_of(tests: str) -> str:
    """Return the name of the coverage file of a test file."""
    return f"{tests.replace('/', '.')}.json"


def read_reached(paths: Iterable[Path]) -> Reached:
    """Return the combined coverage of some coverage files."""
    seconds: dict[str, float] = {}
    lines: dict[str, dict[int, list[str]]] = {}
    marked: dict[str, set[int]] = {}
    for left in (json.loads(path.read_text(encoding="utf-8")) for path in paths):
        seconds |= left["seconds"]
        for file, own in left["lines"].items():
            for line, tests in own.items():
                lines.setdefault(file, {}).setdefault(int(line), []).extend(tests)
        for file, own in left["marked"].items():  # what an import executes in one run is marked in none
            marked[file] = marked.get(file, set(own)) & set(own)
    return Reached(seconds, lines, {file: sorted(own) for file, own in marked.items()})


class _Probes(ast.NodeTransformer):
    """Transformer that inserts a mark before each statement: `SEEN[k] = 1`."""

    def __init__(self, path: str, watch: _Watch) -> None:
        self._path, self._watch = path, watch

    def marked(self, tree: ast.Module) -> ast.Module:
        """Return a module with marks, after its docstring and `__future__` imports."""
        self.visit(tree)
        first = sum(isinstance(one, (ast.ImportFrom, ast.Expr)) for one in tree.body[:2])
        tree.body.insert(first, ast.parse(f"from {__name__} import SEEN as __seen__").body[0])
        return ast.fix_missing_locations(tree)

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        for name in ("body", "orelse", "finalbody"):
            body = getattr(node, name, None)
            if isinstance(body, list) and not isinstance(node, (ast.Module, ast.ClassDef)):
                setattr(node, name, [one for inside in body for one in (self._mark(inside), inside)])
        return node

    def _mark(self, node: ast.stmt) -> ast.stmt:
        mark = ast.parse(f"__seen__[{self._watch.number(self._path, node.lineno)}] = 1").body[0]
        return ast.copy_location(mark, node)


SEEN = bytearray(1 << 16)
"""Flags of the monitored statements; 1: executed."""


class _Watch:
    """Recorder of the statements that each test executes; statements executed by imports are recorded separately."""

    def __init__(self, root: Path, watched: Sequence[str], left: Path) -> None:
        self._root, self._left = root, left
        self._folders = tuple(f"{root / folder}{os.sep}" for folder in watched)
        self._places: list[tuple[str, int]] = []
        self._seconds: dict[str, float] = {}
        self._lines: dict[str, dict[int, list[str]]] = {}
        self._imported: set[tuple[str, int]] = set()
        plain = SourceFileLoader.source_to_code

        def compiled(loader: Any, data: Any, path: Any, **options: Any) -> Any:
            if not str(path).startswith(self._folders):
                return plain(loader, data, path, **options)
            name = Path(path).relative_to(root).as_posix()
            return compile(_Probes(name, self).marked(ast.parse(data)), path, "exec", dont_inherit=True)

        setattr(SourceFileLoader, "source_to_code", compiled)  # noqa: B010 (mypy refuses to assign a method)

    def number(self, path: str, line: int) -> int:
        """Return the number of a new mark."""
        self._places.append((path, line))
        return len(self._places) - 1

    def _seen(self) -> set[tuple[str, int]]:
        return {place for place, seen in zip(self._places, SEEN, strict=False) if seen}

    def pytest_collection_finish(self) -> None:
        self._imported = self._seen()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        SEEN[:] = bytes(len(SEEN))
        begun = time.process_time()
        result = yield
        self._seconds[item.nodeid] = time.process_time() - begun
        for path, line in self._seen():
            self._lines.setdefault(path, {}).setdefault(line, []).append(item.nodeid)
        return result

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        marked: dict[str, list[int]] = {}
        for path, line in (place for place in self._places if place not in self._imported):
            marked.setdefault(path, []).append(line)
        for tests in session.config.args:
            seconds = {test: seconds for test, seconds in self._seconds.items() if _file(test) == tests}
            left = {"seconds": seconds, "lines": self._lines_of(tests), "marked": marked}
            (self._left / part_of(tests)).write_text(json.dumps(left), encoding="utf-8")

    def _lines_of(self, tests: str) -> dict[str, dict[int, list[str]]]:
        """Return the lines that a test file executes."""
        return {
            path: {
                line: own for line, seen in lines.items() if (own := [test for test in seen if _file(test) == tests])
            }
            for path, lines in self._lines.items()
        }


def _file(test: str) -> str:
    return test.partition("::")[0]


class _Choice:
    """Selection of tests with time limits."""

    def __init__(self, seconds: Mapping[str, float]) -> None:
        self._seconds = seconds

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        known = {item.nodeid: item for item in items}
        items[:] = [known[name] for name in self._seconds if name in known]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        signal.signal(signal.SIGVTALRM, lambda *_: os._exit(ENDLESS))
        signal.setitimer(signal.ITIMER_VIRTUAL, limits.TEST.limit_for(self._seconds[item.nodeid]))
        result = yield
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        return result


def pytest_configure(config: pytest.Config) -> None:
    """Register the recorder or the selection, according to the environment."""
    if REACHED in os.environ:
        watched, left = os.environ[WATCHED].split(), Path(os.environ[REACHED])
        config.pluginmanager.register(_Watch(config.rootpath, watched, left))
    if CHOSEN in os.environ:
        chosen = json.loads(Path(os.environ[CHOSEN]).read_text(encoding="utf-8"))
        config.pluginmanager.register(_Choice(chosen))
