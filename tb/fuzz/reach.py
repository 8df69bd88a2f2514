"""Coverage: lines and branches of a layer's firmware that programs reach, and those that they miss."""

from __future__ import annotations

import inspect
import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from types import CodeType
from typing import Any

import coverage

from firmware.layers import folder_of, has_program
from tb.fuzz import trial
from tb.tools.paths import ROOT

Arcs = Mapping[str, list[tuple[int, int]]]
"""Executed jumps from line to line, by file."""
ARCS = "arcs.json"
"""File in which a run on the RTL leaves its arcs."""


def firmware(name: str) -> Path:
    """Return the folder of the NIC firmware that a fuzz tests, or that of the library for a layer without firmware."""
    layer = trial.stack(name)[0]
    return folder_of(layer) / ("nic" if has_program(layer) else "host")


class Watch:
    """Context manager that records the executed lines."""

    def __init__(self, folder: Path) -> None:
        """Create a recorder for the files in a folder."""
        self._coverage = _coverage(folder)

    def __enter__(self) -> Watch:
        self._coverage.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._coverage.stop()

    def arcs(self) -> Arcs:
        """Return the executed arcs."""
        data = self._coverage.get_data()
        return {str(Path(name).relative_to(ROOT)): data.arcs(name) or [] for name in data.measured_files()}


def together(several: Iterable[Arcs]) -> Arcs:
    """Return the union of several sets of arcs."""
    found: dict[str, set[tuple[int, int]]] = {}
    for one in several:
        for name, arcs in one.items():
            found.setdefault(name, set()).update((begin, end) for begin, end in arcs)
    return {name: sorted(arcs) for name, arcs in found.items()}


def _coverage(folder: Path) -> coverage.Coverage:
    return coverage.Coverage(data_file=None, branch=True, source=[str(folder)])


def covered(arcs: Arcs, name: str) -> dict[str, Any]:
    """Return a coverage report with totals, and with missing lines by file."""
    watch = _coverage(firmware(name))
    watch.get_data().add_arcs({str(ROOT / path): [*pairs, *_imported(path)] for path, pairs in arcs.items()})
    with tempfile.NamedTemporaryFile("r", suffix=".json", encoding="utf-8") as report:
        watch.json_report(outfile=report.name)
        result: dict[str, Any] = json.load(report)
    return result


def _imported(path: str) -> Iterator[tuple[int, int]]:
    """Yield arcs to the lines executed at import, before recording began: those of the module and its classes outside
    of functions.
    """
    bodies = [compile((ROOT / path).read_text(encoding="utf-8"), path, "exec")]
    for body in bodies:
        yield from ((-1, line) for _, _, line in body.co_lines() if line)
        inner = [one for one in body.co_consts if isinstance(one, CodeType)]
        bodies += [one for one in inner if not one.co_flags & inspect.CO_NEWLOCALS]


def rows(arcs: Arcs, name: str) -> list[tuple[str, str]]:
    """Return the report of a fuzz: shares of lines and branches, and the missing ones by file."""
    report, folder = covered(arcs, name), firmware(name).relative_to(ROOT)
    totals = report["totals"]
    shares = (("lines", "covered_lines", "num_statements"), ("branches", "covered_branches", "num_branches"))
    found = [
        (f"{what} of {folder}", f"{100 * totals[reached] / totals[all_]:.1f} % of {totals[all_]:,}")
        for what, reached, all_ in shares
        if totals[all_]
    ]
    return found + [
        (f"  {Path(path).relative_to(folder)}", _missing(file))
        for path, file in sorted(report["files"].items())
        if _missing(file)
    ]


def _missing(file: Mapping[str, Any]) -> str:
    """Return the missing lines of one file, and the branches not taken from executed lines."""
    lines = set(file["missing_lines"])
    jumps = [(begin, end) for begin, end in file["missing_branches"] if begin not in lines and end not in lines]
    parts = [", ".join(_runs(sorted(lines)))] if lines else []
    return "; ".join(parts + [f"{begin} to {end if end > 0 else 'its end'}" for begin, end in jumps])


def _runs(numbers: Iterable[int]) -> Iterator[str]:
    """Yield consecutive numbers as ranges: 4-7."""
    group: list[int] = []
    for number, following in pairwise([*numbers, -1]):
        group.append(number)
        if following != number + 1:
            yield f"{group[0]}-{number}" if len(group) > 1 else str(number)
            group = []
