"""Table of a sweep in Parquet, one row a point: axes, inputs, metrics and curves."""

from __future__ import annotations

import contextlib
import csv
import io
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pymodels.results import Results, write_atomically
from tb.sweep.points import Point

SCHEMA = "2"
"""Version of the table, in the file's metadata as `sanlab_schema`."""
DIGITS = re.compile(r"(\d+)")
SIZED = re.compile(r"_(\d+)B(?=_|$)")
"""Pattern of a message size in a metric's name."""
Cell = str | int | float | list[float] | None


@dataclass(frozen=True)
class Row:
    """Point with its results or failures."""

    point: Point
    results: Results | None
    failures: tuple[str, ...] = ()


def columns(rows: Sequence[Row]) -> dict[str, list[Cell]]:
    """Return the table by column.

    Settings in force are columns `set.<key>`, versions `version.<name>`, commits of the roots `commit.<root>`. A curve
    has two columns, `<name>.x` and `<name>.y`. A name in use gets the suffix `measured`.
    """
    table: dict[str, list[Cell]] = {}
    for axis in dict.fromkeys(key for row in rows for key in row.point.axes):
        table[axis] = typed([row.point.axes[axis] for row in rows])
    fixed: tuple[tuple[str, Callable[[Row], Cell]], ...] = (
        ("study", lambda row: row.point.study),
        ("simulator", lambda row: row.point.simulator),
        ("seed", lambda row: row.point.seed),
        ("profile", lambda row: row.results.profile if row.results else row.point.profile),
        ("cluster", lambda row: str(row.results.cluster.get("name", "")) if row.results else None),
        ("firmware", lambda row: row.results.firmware if row.results else None),
        ("given", lambda row: " ".join(row.results.given) if row.results else None),
        ("point", lambda row: row.point.key),
        ("passed", lambda row: int(row.results is not None)),
        ("failure", lambda row: "; ".join(row.failures) or None),
        ("sim_time_ns", lambda row: row.results.sim_time_ns if row.results else None),
        ("wall_s", lambda row: row.results.wall_s if row.results else None),
    )
    for name, of in fixed:
        table.setdefault(name, [of(row) for row in rows])
    _add(table, rows, lambda results: {name: float(value) for name, value in results.metrics.items()})
    _add(table, rows, _curves)
    for name in sorted({name for row in rows if row.results for name in _circumstances(row.results)}):
        table[name] = alike([_circumstances(row.results).get(name) if row.results else None for row in rows])
    return table


def _circumstances(results: Results) -> dict[str, Cell]:
    named = (("set", results.settings), ("version", results.versions), ("commit", results.commits))
    return {f"{kind}.{name}": value for kind, values in named for name, value in values.items()}


def alike(values: Sequence[Cell]) -> list[Cell]:
    """Return values of one type for a column: texts if any value is a text, true and false as 1 and 0."""
    plain = [int(value) if isinstance(value, bool) else value for value in values]
    texts = any(isinstance(value, str) for value in plain)
    return [str(value) if texts and value is not None else value for value in plain]


def _curves(results: Results) -> dict[str, list[float]]:
    curves = results.series.items()
    points = {f"{name}.{axis}": getattr(curve, axis) for name, curve in curves for axis in "xy"}
    return {name: [float(value) for value in values] for name, values in points.items()}


def _add(
    table: dict[str, list[Cell]], rows: Sequence[Row], found: Callable[[Results], Mapping[str, float | list[float]]]
) -> None:
    """Add columns for values of the results; None where a row lacks the value."""
    values = [found(row.results) if row.results else {} for row in rows]
    for name in sorted({name for one in values for name in one}):
        table[f"{name} measured" if name in table else name] = [one.get(name) for one in values]


def typed(values: Sequence[str]) -> list[Cell]:
    """Return words as integers if all are, else as numbers if all are, else unchanged."""
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return [kind(value) for value in values]
    return list(values)


def write_csv(cells: Mapping[str, list[Cell]], path: Path) -> None:
    """Write the table as CSV atomically; the points of a curve are in one cell, separated by spaces.

    Raises:
        ResultsError: The disk is full, or the folder is not writable.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(cells)
    for row in zip(*cells.values(), strict=True):
        writer.writerow([" ".join(map(repr, cell)) if isinstance(cell, list) else cell for cell in row])
    write_atomically(path, text.getvalue())


def shown(cells: Mapping[str, list[Cell]], metrics: Sequence[str], axes: Sequence[str]) -> dict[str, list[Cell]]:
    """Return the columns of metrics for tables and plots.

    Metrics whose names repeat the size of their point become one column: `one_way_us_64B`, measured at `size` 64, and
    its siblings become `one_way_us`.
    """
    numbers = [axis for axis in axes if all(isinstance(value, int) for value in cells[axis])]
    stems: dict[str, list[str]] = {}
    for name in metrics:
        stems.setdefault(SIZED.sub("", name), []).append(name)
    found: dict[str, list[Cell]] = {}
    for stem, names in stems.items():
        if stem not in metrics and len(names) > 1 and any(_repeats(cells, names, axis) for axis in numbers):
            values = zip(*(cells[name] for name in names), strict=True)
            found[stem] = [next((one for one in row if one is not None), None) for row in values]
        else:
            found |= {name: cells[name] for name in names}
    return found


def _repeats(cells: Mapping[str, list[Cell]], names: Iterable[str], axis: str) -> bool:
    """Return True if each metric has values only where the axis equals the size in its name."""
    for name in names:
        size = SIZED.search(name)
        for place, value in zip(cells[axis], cells[name], strict=True):
            if size is None or (value is not None and place != int(size[1])):
                return False
    return True


def write(rows: Sequence[Row], path: Path, about: Mapping[str, str]) -> None:
    """Write the table as Parquet atomically, with `about` as metadata. Raises ResultsError if the disk is full."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table: Any = pa.table(columns(rows))
    table = table.replace_schema_metadata({"sanlab_schema": SCHEMA, **about})
    file = pa.BufferOutputStream()
    pq.write_table(table, file)
    write_atomically(path, [file.getvalue().to_pybytes()])


def varied(table: Mapping[str, list[Cell]], names: Iterable[str]) -> list[str]:
    """Return the numeric columns among `names` that have at least two different values."""
    return [
        name
        for name in names
        if len({value for value in table[name] if isinstance(value, (int, float))}) > 1
        and all(value is None or isinstance(value, (int, float)) for value in table[name])
    ]


def metrics_of(rows: Sequence[Row], table: Mapping[str, list[Cell]]) -> list[str]:
    """Return the columns of metrics in natural order, without wall times and stages."""
    known = {name for row in rows if row.results for name in row.results.metrics}
    names = (name for name in table if name.removesuffix(" measured") in known)
    chosen = (name for name in names if not name.startswith(("wall_", "stage_")))
    return sorted(chosen, key=lambda name: [int(part) if part.isdecimal() else part for part in DIGITS.split(name)])
