"""Lines and branches of a layer's firmware that programs reach, and all that they do not."""

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
"""By file: jumps from line to line that happened."""
ARCS = "arcs.json"
"""Where a run on the RTL leaves them."""


def firmware(name: str) -> Path:
    """The folder of the NIC program that a fuzz is for, or of its library where it has no other side."""
    layer = trial.stack(name)[0]
    return folder_of(layer) / ("nic" if has_program(layer) else "host")


class Watch:
    """Notes what runs while it is entered."""

    def __init__(self, folder: Path) -> None:
        """`folder`: of the files that are looked at."""
        self._coverage = _coverage(folder)

    def __enter__(self) -> Watch:
        self._coverage.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._coverage.stop()

    def arcs(self) -> Arcs:
        """What ran."""
        data = self._coverage.get_data()
        return {str(Path(name).relative_to(ROOT)): data.arcs(name) or [] for name in data.measured_files()}


def together(several: Iterable[Arcs]) -> Arcs:
    """What ran in any of them."""
    found: dict[str, set[tuple[int, int]]] = {}
    for one in several:
        for name, arcs in one.items():
            found.setdefault(name, set()).update((begin, end) for begin, end in arcs)
    return {name: sorted(arcs) for name, arcs in found.items()}


def _coverage(folder: Path) -> coverage.Coverage:
    return coverage.Coverage(data_file=None, branch=True, source=[str(folder)])


def covered(arcs: Arcs, name: str) -> dict[str, Any]:
    """Totals, and by file what is missing: a report of coverage."""
    watch = _coverage(firmware(name))
    watch.get_data().add_arcs({str(ROOT / path): [*pairs, *_imported(path)] for path, pairs in arcs.items()})
    with tempfile.NamedTemporaryFile("r", suffix=".json", encoding="utf-8") as report:
        watch.json_report(outfile=report.name)
        told: dict[str, Any] = json.load(report)
    return told


def _imported(path: str) -> Iterator[tuple[int, int]]:
    """Jumps to the lines of a file that ran when it was imported, which was before anybody watched: those of the module
    and of its classes, without its functions.
    """
    bodies = [compile((ROOT / path).read_text(encoding="utf-8"), path, "exec")]
    for body in bodies:
        yield from ((-1, line) for _, _, line in body.co_lines() if line)
        inner = [one for one in body.co_consts if isinstance(one, CodeType)]
        bodies += [one for one in inner if not one.co_flags & inspect.CO_NEWLOCALS]


def rows(arcs: Arcs, name: str) -> list[tuple[str, str]]:
    """The report of a fuzz: shares of lines and branches, and by file each line and branch without a run."""
    told, folder = covered(arcs, name), firmware(name).relative_to(ROOT)
    totals = told["totals"]
    shares = (("lines", "covered_lines", "num_statements"), ("branches", "covered_branches", "num_branches"))
    found = [
        (f"{what} of {folder}", f"{100 * totals[reached] / totals[all_]:.1f} % of {totals[all_]:,}")
        for what, reached, all_ in shares
        if totals[all_]
    ]
    return found + [
        (f"  {Path(path).relative_to(folder)}", _missing(file))
        for path, file in sorted(told["files"].items())
        if _missing(file)
    ]


def _missing(file: Mapping[str, Any]) -> str:
    """Of one file: lines without a run, then the jumps that were not taken from lines that have run."""
    lines = set(file["missing_lines"])
    jumps = [(begin, end) for begin, end in file["missing_branches"] if begin not in lines and end not in lines]
    told = [", ".join(_runs(sorted(lines)))] if lines else []
    return "; ".join(told + [f"{begin} to {end if end > 0 else 'its end'}" for begin, end in jumps])


def _runs(numbers: Iterable[int]) -> Iterator[str]:
    """Neighbours together: 4-7."""
    group: list[int] = []
    for number, following in pairwise([*numbers, -1]):
        group.append(number)
        if following != number + 1:
            yield f"{group[0]}-{number}" if len(group) > 1 else str(number)
            group = []
