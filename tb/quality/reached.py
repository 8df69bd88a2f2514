"""Which tests reach which lines of the sources, and how long they take: a mutant is run by those alone, quickest first.

A plugin of pytest (`-p tb.quality.reached`). With SANLAB_REACHED it watches a run of tests and leaves what it saw in
that file. With SANLAB_CHOSEN it runs the tests of that file only, in their order; one that takes far more time of the
processor than it did is ended, and the run with it: code ENDLESS.
"""

from __future__ import annotations

import ast
import json
import os
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import coverage
import pytest

REACHED, CHOSEN = "SANLAB_REACHED", "SANLAB_CHOSEN"
"""Variables: where to leave what was seen; tests, each with its seconds."""
ENDLESS = 97
"""Exit code of a run in which a test did not end."""
SPARE, FACTOR = 20.0, 5.0
"""A test may take so many seconds of the processor more, and so many times what it took."""


@dataclass(frozen=True)
class Reached:
    """What a run of tests has seen."""

    seconds: Mapping[str, float]
    """Of the processor, by test."""
    lines: Mapping[str, Mapping[int, Sequence[str]]]
    """By file, from the root: the tests that execute a line; an empty name while it is imported."""

    def tests(self, path: str, text: str, place: int) -> dict[str, float]:
        """The tests that execute the statement at a place of a file's text, quickest first. What an import executes
        every test may see: those that execute anything of the file, then the others.
        """
        own = self.lines.get(path, {})
        first, last = _statement(text, place)
        found = {test for line in range(first, last + 1) for test in own.get(line, ())}
        near = {test for tests in own.values() for test in tests} if "" in found else set()
        chosen = self.seconds if "" in found else found
        return {test: self.seconds[test] for test in sorted(chosen, key=lambda one: self._rank(one, near))}

    def _rank(self, test: str, near: set[str]) -> tuple[bool, float, str]:
        return bool(near) and test not in near, self.seconds[test], test


def _statement(text: str, place: int) -> tuple[int, int]:
    """First and last line of the innermost statement at a place; of one with a body, up to the line of the place."""
    line = text.count("\n", 0, place) + 1
    nodes = [one for one in ast.walk(ast.parse(text)) if isinstance(one, ast.stmt)]
    own = [one for one in nodes if one.lineno <= line <= (one.end_lineno or one.lineno)]
    inner = max(own, key=lambda one: (one.lineno, -(one.end_lineno or one.lineno)))
    return inner.lineno, line if hasattr(inner, "body") else inner.end_lineno or line


def read_reached(path: Path) -> Reached:
    """What a run has left."""
    left = json.loads(path.read_text(encoding="utf-8"))
    lines = {file: {int(line): tests for line, tests in own.items()} for file, own in left["lines"].items()}
    return Reached(left["seconds"], lines)


class _Watch:
    """Notes for each test what it executes."""

    def __init__(self, root: Path, left: Path) -> None:
        self._root, self._left = root, left
        self._seconds: dict[str, float] = {}
        sources = [str(root / top / "*") for top in ("firmware", "pymodels")]
        self._coverage = coverage.Coverage(
            data_file=None, config_file=False, include=sources, concurrency=["thread", "greenlet"]
        )
        self._coverage.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._coverage.switch_context(item.nodeid)
        begun = time.process_time()
        result = yield
        self._seconds[item.nodeid] = time.process_time() - begun
        self._coverage.switch_context("")
        return result

    def pytest_sessionfinish(self) -> None:
        self._coverage.stop()
        data = self._coverage.get_data()
        lines = {
            Path(file).relative_to(self._root).as_posix(): data.contexts_by_lineno(file)
            for file in data.measured_files()
        }
        self._left.write_text(json.dumps({"seconds": self._seconds, "lines": lines}), encoding="utf-8")


class _Choice:
    """Runs some tests, none of them for ever."""

    def __init__(self, seconds: Mapping[str, float]) -> None:
        self._seconds = seconds

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        known = {item.nodeid: item for item in items}
        items[:] = [known[name] for name in self._seconds if name in known]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        signal.signal(signal.SIGVTALRM, lambda *_: os._exit(ENDLESS))
        signal.setitimer(signal.ITIMER_VIRTUAL, SPARE + FACTOR * self._seconds[item.nodeid])
        result = yield
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        return result


def pytest_configure(config: pytest.Config) -> None:
    """Watch, or choose, or neither."""
    if REACHED in os.environ:
        config.pluginmanager.register(_Watch(config.rootpath, Path(os.environ[REACHED])))
    if CHOSEN in os.environ:
        chosen = json.loads(Path(os.environ[CHOSEN]).read_text(encoding="utf-8"))
        config.pluginmanager.register(_Choice(chosen))
