"""Table of all points of a calibration, as Parquet: wave, values, scores and failures.

The values are those of the first profile that has each. A table gives the same outcome again, without a run.
"""

from __future__ import annotations

import importlib
import io
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from pymodels.results import ResultsError
from tb.calibrate.family import Family
from tb.calibrate.space import Array, Dimension
from tb.calibrate.waves import Matched

VALUE, SCORE, WAVE, FAILURE = "value.", "score.", "wave", "failure"
"""Names of columns: beginnings of those of values and scores, and the two others."""


@dataclass(frozen=True)
class Origin:
    """Command that repeats the runs of a calibration, and the commit of their sources; metadata of the file."""

    command: str
    commit: str


def as_parquet(family: Family, matched: Matched, origin: Origin) -> bytes:
    """Return the table of all runs, with their origin."""
    arrow, parquet = importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
    columns: dict[str, list[Any]] = {WAVE: list(matched.of_wave)}
    for at, one in enumerate(family.space):
        columns[VALUE + one.name] = [one.first.at(float(share)) for share in matched.shares[:, at]]
    for name, scores in matched.scores.items():
        columns[SCORE + name] = [float(score) if np.isfinite(score) else None for score in scores]
    columns[FAILURE] = [reason or None for reason in matched.reasons]
    file = io.BytesIO()
    parquet.write_table(arrow.table(columns).replace_schema_metadata(vars(origin)), file)
    return file.getvalue()


def read_table(family: Family, path: Path) -> tuple[Matched, Origin]:
    """Return the runs of a table, without emulators, and their origin.

    Args:
        family: Family of the table.
        path: File.

    Raises:
        ResultsError: The file cannot be read, or has other values or rows than the family.
    """
    arrow, parquet = importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
    try:
        table = parquet.read_table(path)
        columns, told = table.to_pydict(), table.schema.metadata
        origin = Origin(*(told[one.name.encode()].decode() for one in fields(Origin)))
        waves, failures = columns[WAVE], columns[FAILURE]
    except (OSError, KeyError, TypeError, arrow.ArrowException) as error:
        raise ResultsError(
            "invalid table of points", f"{path}: {error}", "give points.parquet of make calibrate"
        ) from None
    names = [one.name for one in family.space]
    for what, wanted, start in (("values", names, VALUE), ("rows", list(family.rows), SCORE)):
        known = [name.removeprefix(start) for name in columns if name.startswith(start)]
        if sorted(known) != sorted(wanted):
            differing = ", ".join(sorted(set(known) ^ set(wanted)))
            raise ResultsError(f"table of other {what}", f"{path}: {differing}", "run make calibrate without a table")
    shares = np.column_stack([_shares(one, columns[VALUE + one.name], path) for one in family.space])
    scores = {name: _numbers(columns[SCORE + name]) for name in family.rows}
    return Matched(shares, scores, [reason or "" for reason in failures], list(waves)), origin


def _shares(one: Dimension, values: Sequence[Any], path: Path) -> Array:
    """Return the positions of values. Raises ResultsError for a value outside of the range."""
    found: Array = np.array([one.first.position(value) for value in values])
    near = 1 / float(one.first.high - one.first.low) if one.first.key.even else 1e-9
    if not ((found >= -near) & (found <= 1 + near)).all():
        cause = f"{path}: {one.name} from {min(values)} to {max(values)}"
        raise ResultsError("table of other ranges", cause, "run make calibrate without a table")
    return np.asarray(np.clip(found, 0.0, 1.0))


def _numbers(column: Sequence[float | None]) -> Array:
    return np.array([np.nan if one is None else one for one in column])
