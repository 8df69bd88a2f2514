"""Reader of a sweep's table `points.parquet`, with the axes and metrics in its metadata."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pymodels.results import ResultsError

FILE = "points.parquet"
AXIS_NAMES, METRICS, UNITS = "axis_names", "metrics", "units"
"""Metadata keys of the table: axes, metrics, and the units of both by name, as JSON."""
BESIDES = ("study", "simulator", "seed", "profile", "cluster", "firmware")
"""Columns of inputs other than settings."""
SETTING = "set."
"""Prefix of the columns of settings."""


@dataclass(frozen=True)
class Swept:
    """Sweep: metrics of each point by its position on the axes."""

    path: Path
    axes: tuple[str, ...]
    points: Mapping[tuple[str, ...], Mapping[str, float | None]]
    """Metrics of each point by position; empty for a failed point."""
    besides: Mapping[str, Sequence[Any]]
    """Distinct values of the other inputs by column."""

    def along(self, axes: tuple[str, ...]) -> Swept:
        """Return the sweep with its axes in another order."""
        order = [self.axes.index(axis) for axis in axes]
        return replace(self, axes=axes, points={tuple(p[at] for at in order): one for p, one in self.points.items()})

    def place(self, point: tuple[str, ...]) -> str:
        """Return the position of a point as text: `hosts=4 size=64`."""
        return " ".join(f"{axis}={value}" for axis, value in zip(self.axes, point, strict=True))


def read_swept(path: Path) -> Swept:
    """Read the table of a sweep. Raises ResultsError for a missing, damaged or incompatible file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path)
    except (OSError, pa.ArrowException) as error:
        raise ResultsError("sweep unreadable", f"{path}: {error}", "run the sweep again") from None
    about = {key.decode(): value.decode() for key, value in (table.schema.metadata or {}).items()}
    if AXIS_NAMES not in about or METRICS not in about:
        raise ResultsError("sweep of another version", f"{path} names no axes", "run the sweep again")
    axes, metrics = json.loads(about[AXIS_NAMES]), json.loads(about[METRICS])
    columns = {name: table.column(name).to_pylist() for name in table.column_names}
    places = list(zip(*([str(value) for value in columns[axis]] for axis in axes), strict=True))
    points = {place: {name: columns[name][at] for name in metrics} for at, place in enumerate(places)}
    others = [name for name in columns if name in BESIDES or name.startswith(SETTING)]
    besides = {name: list(dict.fromkeys(columns[name])) for name in others if name.removeprefix(SETTING) not in axes}
    return Swept(path, tuple(axes), points, besides)
